// A value that ParseJson accepts must survive WriteJson and a second ParseJson unchanged. A refusal
// must have a reason. WriteYaml must accept every such value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/json.h"
#include "codec/yaml.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::codec::ParseJson;
  using berth::codec::WriteJson;
  const auto value = ParseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.has_value()) {
    fuzz::Require(value.error().reason == berth::base::Reason::kBadRequest);
    fuzz::Require(!value.error().message.ends_with("begins"));
    return 0;
  }
  for (const int indent : {0, 2}) {
    const auto again = ParseJson(WriteJson(*value, {.indent = indent}), {.bytes = SIZE_MAX});
    fuzz::Require(again.has_value() && *again == *value);
  }
  fuzz::Require(!berth::codec::WriteYaml(*value).empty());
  return 0;
}
