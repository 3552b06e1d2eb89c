// Reads a page of a list, as JSON or protobuf. What the reader accepts as JSON, the parser of whole
// documents accepts too, with the same items. A refusal has a reason.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "api/kinds.h"
#include "codec/json.h"
#include "codec/list_read.h"
#include "codec/read.h"
#include "fuzz/require.h"

namespace {

using berth::codec::Value;

void ReadAsJson(std::string_view text) {
  berth::codec::Array items;
  const auto head = berth::codec::ReadJsonList(text, nullptr, [&](Value object) {
    fuzz::Require(object.AsObject() != nullptr);
    items.push_back(std::move(object));
  });
  if (!head) {
    fuzz::Require(!head.error().message.empty());
    return;
  }
  // Members that do not matter are not checked, so the whole text need not be JSON. Of two `items`
  // both are read.
  const auto document = berth::codec::ParseJson(text);
  if (!document) return;
  const berth::codec::Array& last = berth::codec::ArrayAt(*document, "items");
  fuzz::Require(items.size() >= last.size());
  fuzz::Require(
      berth::codec::Array(items.end() - static_cast<ptrdiff_t>(last.size()), items.end()) == last);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadAsJson(text);
  const berth::api::Message& message = *berth::api::kServiceKind.message;
  const auto check = [](const auto& head) {
    if (!head) fuzz::Require(head.error().reason == berth::base::Reason::kBadRequest);
  };
  const auto ignore = [](const Value& object) { fuzz::Require(object.AsObject() != nullptr); };
  check(berth::codec::ReadJsonList(text, &message, ignore));
  check(berth::codec::ReadProtobufList(text, message, ignore));
  return 0;
}
