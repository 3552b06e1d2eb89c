// Any patch to any object gives a canonical object or an error that can be sent to a client. The
// same patch gives the same result again, and the document is equal to that of the plain models.
// The first byte selects the kind of patch and the handling of unknown fields, the second byte the
// kind of object. The object's JSON follows, then a NUL and the patch.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

// A limit, because the models are slow.
constexpr size_t kMostCompared = 4096;

// Returns the whole patched document after comparing it with the model's, or nullopt on an error.
std::optional<Value> PatchedDocument(PatchKind kind, Value document, const Value& patch,
                                     const api::Message& message, bool compare) {
  if (kind == PatchKind::kMerge) {
    const Value before = compare ? document : Value();
    merge::ApplyMergePatch(document, patch);
    Require(!compare || document == model::MergePatch(before, patch));
    return document;
  }
  if (kind == PatchKind::kStrategic) {
    const auto expected = compare ? model::Strategic(document, patch, &message) : std::nullopt;
    const auto done = merge::ApplyStrategicMerge(document, patch, message);
    Require(!compare || done.has_value() == expected.has_value());
    Require(!compare || !done || document == *expected);
    return done ? std::optional(document) : std::nullopt;
  }
  const auto operations = merge::ReadJsonPatch(patch);
  Require(operations.has_value());
  const codec::Array list = patch.IsNull() ? codec::Array() : *patch.AsArray();
  const auto is_null = [](const Value& each) { return each.IsNull(); };
  compare = compare && list.size() < 100 && std::none_of(list.begin(), list.end(), is_null);
  const auto expected = compare ? model::JsonPatch(document, list) : std::nullopt;
  const auto done = merge::ApplyJsonPatch(document, *operations);
  // Only one of the two implementations has limits.
  Require(!compare || !done || (expected.has_value() && document == *expected));
  return done ? std::optional(document) : std::nullopt;
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
  // Drop what JSON does not show: empty lists, and duplicate members of managed fields.
  const codec::Identity identity{.api_version = kind.api_version, .kind = kind.kind};
  const Value shown = codec::ToDocument(decoded->object, *kind.message, identity);
  const Value current = codec::DecodeValue(shown, *kind.message)->object;

  const auto patch = merge::Patch::Parse(patch_kind, text, validation);
  if (!patch) {
    CheckError(patch.error());
    return 0;
  }
  const auto patched = patch->Apply(current, kind);
  const auto again = patch->Apply(current, kind);
  Require(patched.has_value() == again.has_value());
  Value content = *codec::ParseJson(text);
  if (patch_kind == PatchKind::kStrategic && content.IsNull()) content.MakeObject();
  const auto document =
      PatchedDocument(patch_kind, shown, content, *kind.message, text.size() < kMostCompared);
  if (!patched) {
    CheckError(patched.error());
    return 0;
  }
  Require(patched->object == again->object);
  Require(validation == codec::FieldValidation::kWarn || patched->warnings.empty());
  // The code may have looked at a part of the object only, but the result must be the same.
  const auto whole = codec::DecodeValue(*document, *kind.message);
  Require(whole.has_value() && whole->object == patched->object);
  const std::string json = codec::EncodeMessage(patched->object, *kind.message);
  Require(json == codec::EncodeMessage(whole->object, *kind.message));
  const auto read = codec::DecodeJson(json, *kind.message, {.limits = {.bytes = SIZE_MAX}});
  Require(read.has_value() && read->problems.empty());
  return 0;
}
