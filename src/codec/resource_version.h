// metadata.resourceVersion inside stored bytes, found and changed without decoding them. For use by
// codec/slot.h, which says what stays as it is. Each function serves one form and answers no to
// bytes that do not have it; any bytes may be given.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

/// The field's content as it stands in the text, escapes included; empty when the field is
/// missing.
std::optional<std::string_view> JsonResourceVersion(std::string_view value);

/// `version` must need no escapes.
bool SetJsonResourceVersion(std::string& value, std::string_view version);

/// Of a Kubernetes protobuf envelope.
std::optional<std::string_view> ProtoResourceVersion(std::string_view value);
bool SetProtoResourceVersion(std::string& value, std::string_view version);

}  // namespace berth::codec
