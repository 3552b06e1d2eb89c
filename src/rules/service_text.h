// Reads what a Service holds from its JSON, without decoding it. The ledger reads every Service
// that changes, and decoding each of them would take longer than all that it does otherwise.
//
// The text must be one that codec::EncodeJson made: no white space, members in the order of the
// kind's table, and no others. So `"spec":{` cannot mean anything but the spec: values of labels
// and annotations are strings, and a quote inside a string has a backslash before it. Pure. Nothing
// fails, whatever the text contains.
#pragma once

#include <optional>
#include <string_view>

#include "rules/service_claims.h"

namespace berth::rules {

/// Returns the same as HoldingsOf returns for the decoded Service. Returns nullopt if the text is
/// not as expected; the caller then has to decode it.
std::optional<Holdings> HoldingsInText(std::string_view json);

/// Returns the text from the spec on. Services in which it is equal hold the same values. Empty if
/// there is no spec.
std::string_view TextFromSpec(std::string_view json);

}  // namespace berth::rules
