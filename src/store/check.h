// The limits of the contract, checked in one place for every engine.
#pragma once

#include <optional>

#include "store/types.h"

namespace berth::store {

/// Return why the request is refused: kBadRequest, or kRequestEntityTooLarge with the limit in the
/// message. Return nullopt if the request keeps the limits.
std::optional<base::Error> CheckTxn(const Txn& txn);
std::optional<base::Error> CheckScan(const ScanRequest& request);
std::optional<base::Error> CheckKey(std::string_view key);

/// Return the errors that all engines word alike.
base::Error CompactedError(Revision asked, Revision compacted);
base::Error FutureError(Revision asked, Revision current);

}  // namespace berth::store
