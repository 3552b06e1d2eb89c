// A value that ParseYaml accepts is bounded, and can be written as YAML and read back. DecodeYaml
// decodes the same text or fails with a message. A refusal has a reason.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/core.h"
#include "codec/decode.h"
#include "codec/yaml.h"
#include "codec/yaml_read.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::codec::ParseYaml;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = ParseYaml(text, {.bytes = 100'000, .depth = 50});
  const auto decoded = berth::codec::DecodeYaml(text, berth::api::kService);
  if (!document) {
    fuzz::Require(document.error().reason == berth::base::Reason::kBadRequest);
    fuzz::Require(document.error().message.starts_with("yaml: "));
    return 0;
  }
  fuzz::Require(decoded.has_value() || !decoded.error().message.empty());
  const auto again = ParseYaml(berth::codec::WriteYaml(document->value), {.bytes = SIZE_MAX});
  fuzz::Require(again.has_value() && again->duplicates.empty());
  fuzz::Require(again->value == document->value);
  return 0;
}
