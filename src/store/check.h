// The limits of the contract, checked in one place for every engine.
#pragma once

#include <optional>

#include "store/types.h"

namespace berth::store {

/// Why the request cannot be taken (kBadRequest, or kRequestEntityTooLarge naming the limit), or
/// nothing.
std::optional<base::Error> CheckTxn(const Txn& txn);
std::optional<base::Error> CheckScan(const ScanRequest& request);
std::optional<base::Error> CheckKey(std::string_view key);

/// The errors every engine words alike.
base::Error CompactedError(Revision asked, Revision compacted);
base::Error FutureError(Revision asked, Revision current);

}  // namespace berth::store
