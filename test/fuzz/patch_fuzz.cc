// Any patch to any object ends in a canonical object or in an error that a client can be told; the
// same patch does the same again; and the document is what the plain models make of it. The first
// byte picks the kind of patch and what is done about unknown fields, the second the kind of
// object; the object's JSON follows, and behind a NUL the patch.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "fuzz/require.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"
#include "merge/patch.h"
#include "merge/patch_model.h"
#include "merge/strategic_merge.h"
#include "merge/strategic_model.h"

namespace {

using namespace berth;  // NOLINT(google-build-using-namespace)
using codec::Value;
using fuzz::Require;
using merge::PatchKind;

// The models are slow.
constexpr size_t kMostCompared = 4096;

void CompareWithModel(PatchKind kind, Value document, std::string_view text,
                      const api::Message& message) {
  const auto patch = codec::ParseJson(text);
  if (!patch || text.size() > kMostCompared) return;
  if (kind == PatchKind::kMerge) {
    const Value expected = model::MergePatch(document, *patch);
    merge::ApplyMergePatch(document, *patch);
    Require(document == expected);
  } else if (kind == PatchKind::kStrategic && patch->AsObject() != nullptr) {
    const auto expected = model::Strategic(document, *patch, &message);
    const auto done = merge::ApplyStrategicMerge(document, *patch, message);
    Require(done.has_value() == expected.has_value());
    Require(!done || document == *expected);
  } else if (kind == PatchKind::kJson) {
    const auto operations = merge::ReadJsonPatch(*patch);
    if (!operations || operations->operations.size() > 100) return;
    for (const Value& each : patch->IsNull() ? codec::Array() : *patch->AsArray()) {
      if (each.IsNull()) return;
    }
    const auto expected =
        model::JsonPatch(document, patch->IsNull() ? codec::Array() : *patch->AsArray());
    const auto done = merge::ApplyJsonPatch(document, *operations);
    // Only one of them has limits.
    Require(!done || (expected.has_value() && document == *expected));
  }
}

void CheckError(const base::Error& error) {
  Require(error.reason == base::Reason::kBadRequest || error.reason == base::Reason::kInvalid ||
          error.reason == base::Reason::kUnknown ||
          error.reason == base::Reason::kRequestEntityTooLarge);
  Require(!error.message.empty() && error.message.size() < size_t{256} * 1024);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto patch_kind = static_cast<PatchKind>(data[0] % 3);
  const auto validation = static_cast<codec::FieldValidation>(data[0] / 3 % 3);
  const api::Kind& kind = *api::AllKinds()[data[1] % api::AllKinds().size()];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t end = rest.find('\0');
  const auto decoded = codec::DecodeJson(rest.substr(0, end), *kind.message);
  if (end == std::string_view::npos || !decoded) return 0;
  const std::string_view text = rest.substr(end + 1);

  const auto patch = merge::Patch::Parse(patch_kind, text, validation);
  if (!patch) {
    CheckError(patch.error());
    return 0;
  }
  const auto patched = patch->Apply(decoded->object, kind);
  const auto again = patch->Apply(decoded->object, kind);
  Require(patched.has_value() == again.has_value());
  if (patched) {
    Require(patched->object == again->object);
    Require(validation == codec::FieldValidation::kWarn || patched->warnings.empty());
    const std::string json = codec::EncodeMessage(patched->object, *kind.message);
    const auto read = codec::DecodeJson(json, *kind.message, {.limits = {.bytes = SIZE_MAX}});
    Require(read.has_value() && read->problems.empty());
    Require(codec::EncodeMessage(read->object, *kind.message) == json);
  } else {
    CheckError(patched.error());
  }
  CompareWithModel(patch_kind,
                   codec::ToDocument(decoded->object, *kind.message,
                                     {.api_version = kind.api_version, .kind = kind.kind}),
                   text, *kind.message);
  return 0;
}
