#include "kube/watch_stream.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "codec/decode.h"
#include "codec/json.h"
#include "codec/list_read.h"
#include "codec/read.h"

namespace berth::kube {
namespace {

using base::Fail;
using base::Reason;
using base::Result;
using Type = ServerEvent::Type;

tl::unexpected<base::Error> NotAnEvent(std::string_view what) {
  return Fail(Reason::kBadRequest, fmt::format("not an event of a watch: {}", what));
}

std::optional<Type> TypeOf(std::string_view text) {
  if (text == "ADDED") return Type::kAdded;
  if (text == "MODIFIED") return Type::kModified;
  if (text == "DELETED") return Type::kDeleted;
  if (text == "BOOKMARK") return Type::kBookmark;
  if (text == "ERROR") return Type::kError;
  return std::nullopt;
}

}  // namespace

Result<ServerEvent> ReadServerEvent(std::string_view line, const api::Message* message) {
  auto document = codec::ParseJson(line, {.bytes = codec::kLargestItem});
  if (!document) return NotAnEvent(document.error().message);
  const std::optional<Type> type = TypeOf(codec::StringAt(*document, "type"));
  codec::Value* const object = document->Find("object");
  if (!type || object == nullptr || object->AsObject() == nullptr) {
    return NotAnEvent("it has no known type, or no object");
  }
  ServerEvent event{.type = *type};
  if (*type == Type::kError) {
    event.status = StatusOf(*object, 0);
    return event;
  }
  if (message != nullptr) {
    auto decoded = codec::DecodeValue(*object, *message);
    if (!decoded) return NotAnEvent(decoded.error().message);
    event.object = std::move(decoded->object);
  } else {
    event.object = std::move(*object);
  }
  event.revision = codec::StringAt(event.object, "metadata", "resourceVersion");
  if (event.revision.empty()) return NotAnEvent("its object has no resourceVersion");
  return event;
}

Result<bool> WatchStream::Feed(std::string_view bytes, const Each& each) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > codec::kLargestItem) return NotAnEvent("it is too long");
    if (end == std::string_view::npos) {
      line_ += part;
      return true;
    }
    bytes.remove_prefix(end + 1);
    const bool begun = !line_.empty();
    if (begun) line_ += part;
    const std::string_view line = begun ? std::string_view(line_) : part;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      line_.clear();
      continue;
    }
    auto event = ReadServerEvent(line, message_);
    if (!event) return tl::unexpected(std::move(event.error()));
    line_.clear();
    if (!each(*std::move(event))) return false;
  }
  return true;
}

}  // namespace berth::kube
