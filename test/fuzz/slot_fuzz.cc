// A slot written into any bytes must be read back, must leave no trace when it is cleared, and must
// change nothing that a JSON parser sees except metadata.resourceVersion. The first byte selects
// the slot.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "codec/json.h"
#include "codec/slot.h"
#include "fuzz/require.h"

namespace {

using berth::codec::Object;
using berth::codec::ParseJson;
using berth::codec::Value;

constexpr std::string_view kKey = "/registry/services/specs/shop/web";

std::string Cleared(std::string value) {
  berth::codec::ClearSlot(kKey, value);
  return value;
}

/// Returns the value as a parser sees it, without the resourceVersion.
Value Rest(const std::string& text) {
  auto value = ParseJson(text);
  if (!value) return {};
  if (Value* metadata = value->Find("metadata"); metadata != nullptr && metadata->AsObject()) {
    metadata->AsObject()->Erase("resourceVersion");
  } else if (metadata == nullptr) {
    value->Set("metadata", Object());
  }
  return *std::move(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const int slot = data[0] * 7;
  const std::string value(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int before = berth::codec::ReadSlot(kKey, value);
  fuzz::Require(before >= 0 && before <= berth::codec::kMaxObjectSlot);

  std::string written = value;
  const int noted = berth::codec::WriteSlot(kKey, written, slot);
  fuzz::Require(noted == slot || (noted == 0 && written == value));
  fuzz::Require(berth::codec::ReadSlot(kKey, written) == noted);
  fuzz::Require(Cleared(written) == Cleared(value));
  fuzz::Require(Cleared(Cleared(value)) == Cleared(value));
  std::string again = written;
  berth::codec::WriteSlot(kKey, again, slot);
  fuzz::Require(again == written);

  // A parser uses the last of two fields, but this codec uses the first. Compare only if there is
  // one.
  if (ParseJson(value) && value.find('\\') == std::string::npos &&
      value.find("\"metadata\"") == value.rfind("\"metadata\"") &&
      value.find("\"resourceVersion\"") == value.rfind("\"resourceVersion\"")) {
    if (ParseJson(value)->AsObject() != nullptr) fuzz::Require(Rest(written) == Rest(value));
  }
  return 0;
}
