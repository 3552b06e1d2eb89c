// Applies any document to any object with any managed fields. The result is canonical, and applying
// the document again changes nothing except what the first apply could not know. The first byte
// selects the kind and the other options. Then come the live object and the configuration as JSON,
// each on a line.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "fuzz/require.h"
#include "merge/apply.h"
#include "merge/managed_fields.h"

namespace {

using namespace berth;  // NOLINT(google-build-using-namespace)
using codec::Value;

// Requires that the object is equal after it is written and read back.
void RequireCanonical(const Value& object, const api::Message& message) {
  const std::string text = codec::EncodeMessage(object, message);
  const auto again = codec::DecodeJson(text, message, {.limits = {.bytes = SIZE_MAX}});
  fuzz::Require(again.has_value() && again->problems.empty());
  fuzz::Require(codec::EncodeMessage(again->object, message) == text);
}

void Track(const merge::FieldWrite& write, const Value& live, const Value& config) {
  auto updated = codec::DecodeValue(config, *write.kind.message);
  if (!updated) return;
  for (const Value& before : {live, Value(codec::Object())}) {
    Value object = updated->object;
    merge::TrackUpdate(write, before, object);
    RequireCanonical(object, *write.kind.message);
    // Writing the same object again is no change.
    Value same = object;
    merge::TrackUpdate(write, object, same);
    fuzz::Require(same == object);
    merge::KeepTimesOfNoChange(before, object);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const api::Kind& kind = *api::AllKinds()[data[0] % api::AllKinds().size()];
  const bool force = (data[0] & 0x10) != 0;
  const merge::FieldWrite write{
      .kind = kind,
      .subresource = (data[0] & 0x20) != 0 ? "status" : std::string_view(),
      .manager = (data[0] & 0x40) != 0 ? "kubectl" : "fuzz",
      .now = base::WallTime(std::chrono::seconds(1800000000))};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t middle = text.find('\n');
  const auto live = codec::DecodeJson(text.substr(0, middle), *kind.message);
  auto config =
      codec::ParseJson(middle == std::string_view::npos ? "null" : text.substr(middle + 1));
  if (!live || !config) return 0;
  Track(write, live->object, *config);

  if (config->AsObject() != nullptr) {
    config->Set("apiVersion", Value(kind.api_version));
    config->Set("kind", Value(kind.kind));
  }
  const auto applied = merge::Apply(write, {.force = force}, live->object, *config);
  if (!applied) {
    fuzz::Require(!applied.error().message.empty());
    fuzz::Require(applied.error().reason != base::Reason::kConflict ||
                  (!force && !applied.error().causes.empty()));
    return 0;
  }
  RequireCanonical(*applied, *kind.message);
  const auto again = merge::Apply(write, {.force = force}, *applied, *config);
  fuzz::Require(again.has_value());
  RequireCanonical(*again, *kind.message);
  return 0;
}
