#include "merge/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/go_text.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "merge/go_value.h"
#include "merge/merge_patch.h"
#include "merge/patch_errors.h"
#include "merge/restore.h"
#include "merge/strategic_merge.h"

namespace berth::merge {
namespace {

using codec::FieldValidation;
using codec::Member;
using codec::Object;
using codec::Value;

constexpr std::string_view kMetadata = "metadata";

tl::unexpected<base::Error> NoMergePatch() { return BadPatch("Invalid JSON Patch"); }

// Go decodes merge patches to maps. JSON patches have a decoder of their own.
base::Result<Value> ReadMap(Value document, PatchKind kind) {
  const std::string_view prefix = kind == PatchKind::kMerge ? "error decoding patch: " : "";
  if (document.AsObject() != nullptr) return document;
  if (document.IsNull()) {
    // In Go this is a nil map: nothing to merge, but not a valid merge patch either.
    if (kind == PatchKind::kMerge) return NoMergePatch();
    return Value(Object());
  }
  const std::string_view found = document.AsArray() != nullptr    ? "array"
                                 : document.AsString() != nullptr ? "string"
                                 : document.AsBool().has_value()  ? "bool"
                                                                  : "number";
  return BadPatch(
      fmt::format("{}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                  prefix, found));
}

// Reads a merge patch whose fields are not validated. Kubernetes accepts any text here: a list
// replaces the object, and then is not an object.
base::Result<Value> ReadUncheckedMap(Value document) {
  if (document.AsObject() != nullptr) return document;
  if (document.AsArray() == nullptr) return NoMergePatch();
  return InvalidPatch(codec::WriteJson(document),
                      "couldn't get version/kind; json parse error: json: cannot unmarshal array "
                      "into Go value of type struct { APIVersion string "
                      "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                      "\"json:\\\"kind,omitempty\\\"\" }");
}

// Returns whether there is a directive, which may affect fields that it does not name.
bool HasDirective(const Object& patch) {
  return std::any_of(patch.begin(), patch.end(),
                     [](const Member& member) { return member.key.starts_with('$'); });
}

bool LeadsToManagedFields(const Pointer& pointer) {
  if (pointer.size() < 2) return pointer.empty() || pointer[0] == kMetadata;
  return pointer[0] == kMetadata && pointer[1] == codec::kManagedFields;
}

// Returns the object with some fields, by position, from `patched` and all others from `current`.
Value Joined(uint32_t members, Value patched, const Value& current, const api::Message& message) {
  std::vector<Member> joined;
  joined.reserve(message.fields.size());
  for (size_t i = 0; i < message.fields.size(); ++i) {
    const std::string_view name = message.fields[i].name;
    if ((members >> i & 1) != 0) {
      if (Value* value = patched.Find(name))
        joined.push_back({std::string(name), std::move(*value)});
    } else if (const Value* value = current.Find(name)) {
      joined.push_back({std::string(name), *value});
    }
  }
  return Object::FromUnique(std::move(joined));
}

// Checks the kind and version of a patched object, which clients may not change.
std::optional<std::string> IdentityFault(const codec::Decoded& decoded, const api::Kind& kind) {
  if (!decoded.api_version.empty() && decoded.api_version != kind.api_version) {
    return fmt::format(
        "no kind {} is registered for version {} in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        base::GoQuoted(decoded.kind), base::GoQuoted(decoded.api_version));
  }
  if (!decoded.kind.empty() && decoded.kind != kind.kind) {
    return fmt::format("converting (v1.{}) to (core.{}): unknown conversion", decoded.kind,
                       kind.kind);
  }
  return std::nullopt;
}

}  // namespace

base::Result<Patch> Patch::Parse(PatchKind kind, std::string_view text,
                                 FieldValidation validation) {
  auto document = codec::ReadJson(text);
  const bool unchecked = validation == FieldValidation::kIgnore;
  if (!document) {
    if (unchecked && kind == PatchKind::kMerge) return NoMergePatch();
    const bool plain = unchecked || kind == PatchKind::kStrategic;
    return BadPatch((plain ? "" : "error decoding patch: ") + document.error().message);
  }
  Patch patch;
  patch.kind_ = kind;
  patch.validation_ = validation;
  const std::string_view prefix = kind == PatchKind::kJson ? "json patch " : "";
  for (const codec::Problem& problem : document->problems) {
    patch.problems_.push_back(fmt::format("{}{}", prefix, problem.text));
  }
  if (kind != PatchKind::kJson) {
    auto map = unchecked && kind == PatchKind::kMerge ? ReadUncheckedMap(std::move(document->value))
                                                      : ReadMap(std::move(document->value), kind);
    if (!map) return tl::unexpected(std::move(map.error()));
    patch.content_ = *std::move(map);
    return patch;
  }
  auto operations = ReadJsonPatch(std::move(document->value), validation);
  if (!operations) return tl::unexpected(std::move(operations.error()));
  for (std::string& problem : operations->problems) {
    if (patch.problems_.size() == codec::kMostProblems) break;
    patch.problems_.push_back(std::move(problem));
  }
  patch.content_ = *std::move(operations);
  return patch;
}

base::Result<Patched> Patch::Apply(const Value& current, const api::Kind& kind) const {
  // Most patches change a small part of the object, and the rest need not be converted.
  const uint32_t touched = TouchedMembers(*kind.message);
  if (touched != codec::kAllMembers) {
    auto patched = ApplyWithin(touched, current, kind);
    // An error about a field shows the whole object.
    if (patched || patched.error().causes.empty()) return patched;
  }
  return ApplyWithin(codec::kAllMembers, current, kind);
}

base::Result<Patched> Patch::ApplyWithin(uint32_t members, const Value& current,
                                         const api::Kind& kind) const {
  const bool with_managed_fields = TouchesManagedFields();
  Value document = codec::ToDocument(current, *kind.message,
                                     {.api_version = kind.api_version, .kind = kind.kind},
                                     {.managed_fields = with_managed_fields, .members = members});
  if (auto done = ApplyTo(document, *kind.message); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  auto decoded = Decode(document, kind);
  if (!decoded) return tl::unexpected(std::move(decoded.error()));
  auto patched = Checked(*std::move(decoded), document);
  if (!patched) return patched;
  if (!with_managed_fields && document.Find(kMetadata) != nullptr) {
    codec::CopyAt(patched->object, current, {kMetadata, codec::kManagedFields});
  }
  if (members != codec::kAllMembers) {
    patched->object = Joined(members, std::move(patched->object), current, *kind.message);
  }
  codec::KeepUnknownFields(current, patched->object, *kind.message);
  return patched;
}

base::Result<void> Patch::ApplyTo(Value& document, const api::Message& message) const {
  switch (kind_) {
    case PatchKind::kJson:
      return ApplyJsonPatch(document, std::get<JsonPatch>(content_));
    case PatchKind::kMerge:
      ApplyMergePatch(document, std::get<Value>(content_));
      return {};
    case PatchKind::kStrategic:
      break;
  }
  return ApplyStrategicMerge(document, std::get<Value>(content_), message);
}

base::Result<codec::Decoded> Patch::Decode(const Value& document, const api::Kind& kind) const {
  auto decoded = codec::DecodeValue(document, *kind.message);
  const bool strategic = kind_ == PatchKind::kStrategic;
  if (!decoded) {
    const auto fault = strategic ? RestoreFault(document, *kind.message) : std::nullopt;
    return InvalidPatch(ShownIn(document), fault.value_or(decoded.error().message));
  }
  // A strategic merge uses the struct it fills, whatever the kind in the document.
  if (strategic) return decoded;
  if (const auto fault = IdentityFault(*decoded, kind)) {
    return InvalidPatch(ShownIn(document), *fault);
  }
  if (decoded->problems.size() < 2) return decoded;
  return codec::DecodeValue(document, *kind.message,
                            {.limits = {}, .expected = {}, .by_key = true});
}

base::Result<Patched> Patch::Checked(codec::Decoded decoded, const Value& document) const {
  Patched patched{.object = std::move(decoded.object)};
  if (validation_ == FieldValidation::kIgnore) return patched;
  patched.warnings = problems_;
  for (codec::Problem& problem : decoded.problems) {
    patched.warnings.push_back(std::move(problem.text));
  }
  if (validation_ == FieldValidation::kStrict && !patched.warnings.empty()) {
    return InvalidPatch(ShownIn(document), fmt::format("strict decoding error: {}",
                                                       fmt::join(patched.warnings, ", ")));
  }
  return patched;
}

// Returns what an error about the result shows: the result, or the patch
// where Kubernetes shows that.
std::string Patch::ShownIn(const Value& document) const {
  if (kind_ == PatchKind::kStrategic) return GoText(std::get<Value>(content_));
  return codec::WriteJson(document);
}

// Returns the fields that the patch may touch, or all if that is not known.
uint32_t Patch::TouchedMembers(const api::Message& message) const {
  uint32_t touched = 0;
  const auto touch = [&](std::string_view name) {
    const api::Field* field = message.Find(name);
    if (field != nullptr) touched |= uint32_t{1} << message.PositionOf(*field);
  };
  if (kind_ == PatchKind::kJson) {
    for (const Operation& operation : std::get<JsonPatch>(content_).operations) {
      for (const auto* pointer : {&operation.path, &operation.from}) {
        if (!pointer->has_value()) continue;
        if ((*pointer)->empty()) return codec::kAllMembers;
        touch((*pointer)->front());
      }
    }
    return touched;
  }
  const Object& patch = *std::get<Value>(content_).AsObject();
  if (HasDirective(patch)) return codec::kAllMembers;
  for (const Member& member : patch) touch(member.key);
  return touched;
}

bool Patch::TouchesManagedFields() const {
  if (kind_ == PatchKind::kJson) {
    const auto& operations = std::get<JsonPatch>(content_).operations;
    return std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
      return (operation.path && LeadsToManagedFields(*operation.path)) ||
             (operation.from && LeadsToManagedFields(*operation.from));
    });
  }
  const Object& patch = *std::get<Value>(content_).AsObject();
  if (HasDirective(patch)) return true;
  const Value* metadata = patch.Find(kMetadata);
  if (metadata == nullptr) return false;
  const Object* changes = metadata->AsObject();
  return changes == nullptr || changes->Find(codec::kManagedFields) != nullptr ||
         HasDirective(*changes);
}

}  // namespace berth::merge
