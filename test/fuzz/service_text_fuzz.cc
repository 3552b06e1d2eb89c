// Any bytes may be read as the text of a stored Service. If they are a Service, the text that the
// codec makes of it must say the same as the decoded object.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "fuzz/require.h"
#include "rules/service_claims.h"
#include "rules/service_text.h"

using berth::rules::HoldingsInText;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  HoldingsInText(text);
  fuzz::Require(berth::rules::TextFromSpec(text).size() <= size);

  const auto decoded = berth::codec::DecodeJson(text, *berth::api::kServiceKind.message);
  if (!decoded) return 0;
  auto wire = berth::codec::EncodeJson(decoded->object, *berth::api::kServiceKind.message,
                                       {.api_version = "v1", .kind = "Service"});
  wire.text.erase(wire.managed_at, wire.managed_size);
  const auto held = HoldingsInText(wire.text);
  fuzz::Require(!held || *held == berth::rules::HoldingsOf(decoded->object));
  return 0;
}
