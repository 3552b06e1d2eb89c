// What ParseJson accepts must survive WriteJson and a second ParseJson unchanged; what it refuses
// must come with a reason. WriteYaml must cope with all of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "codec/json.h"
#include "codec/yaml.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::codec::ParseJson;
  using berth::codec::WriteJson;
  const auto value = ParseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.has_value()) {
    Require(value.error().reason == berth::base::Reason::kBadRequest);
    Require(!value.error().message.ends_with("begins"));
    return 0;
  }
  for (const int indent : {0, 2}) {
    const auto again = ParseJson(WriteJson(*value, {.indent = indent}), {.bytes = SIZE_MAX});
    Require(again.has_value() && *again == *value);
  }
  Require(!berth::codec::WriteYaml(*value).empty());
  return 0;
}
