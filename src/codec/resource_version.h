// Finds and changes metadata.resourceVersion in stored bytes without decoding them. For use by
// codec/slot.h, which says what stays unchanged. Each function handles one form. For other bytes it
// returns nullopt or false and changes nothing. Any bytes may be passed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

/// Returns the field's content as it is in the text, with its escapes.
/// Returns "" if the field is missing.
std::optional<std::string_view> JsonResourceVersion(std::string_view value);

/// `version` must not need escapes.
bool SetJsonResourceVersion(std::string& value, std::string_view version);

/// The same for a Kubernetes protobuf envelope.
std::optional<std::string_view> ProtoResourceVersion(std::string_view value);
bool SetProtoResourceVersion(std::string& value, std::string_view version);

}  // namespace berth::codec
