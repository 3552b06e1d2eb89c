// A patch from its text to the object it leaves behind: JSON Patch, merge patch and strategic merge
// patch, with the errors and warnings of kube-apiserver. Server-side apply is in apply.h.
//
// Pure; a Patch is immutable and may be applied from any thread, as often as the object changes
// under the writer's hands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/kinds.h"
#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"
#include "merge/json_patch.h"

namespace berth::merge {

enum class PatchKind : uint8_t { kJson, kMerge, kStrategic };

struct Patched {
  codec::Value object;                     // Canonical.
  std::vector<std::string> warnings = {};  // Of kWarn.
};

class Patch {
 public:
  /// kBadRequest: this is no such patch. kRequestEntityTooLarge: more operations than are allowed.
  /// Upstream looks for the object first: a patch that cannot be read of an object that is not
  /// there is answered with 404.
  static base::Result<Patch> Parse(PatchKind kind, std::string_view text,
                                   codec::FieldValidation validation);

  /// `current` is canonical, of the kind's message and with its resourceVersion; so is what comes
  /// back, defaults not filled in, name and namespace not compared. kInvalid: it does not apply, or
  /// leaves no such object behind, or, with kStrict, has fields that are unknown or there twice.
  /// kUnknown where upstream answers 500 without a reason.
  base::Result<Patched> Apply(const codec::Value& current, const api::Kind& kind) const;

 private:
  Patch() = default;

  /// With only those fields of the object, by position, and all others as they are.
  base::Result<Patched> ApplyWithin(uint32_t members, const codec::Value& current,
                                    const api::Kind& kind) const;
  base::Result<void> ApplyTo(codec::Value& document, const api::Message& message) const;
  base::Result<codec::Decoded> Decode(const codec::Value& document, const api::Kind& kind) const;
  base::Result<Patched> Checked(codec::Decoded decoded, const codec::Value& document) const;
  std::string ShownIn(const codec::Value& document) const;
  uint32_t TouchedMembers(const api::Message& message) const;
  bool TouchesManagedFields() const;

  PatchKind kind_ = PatchKind::kMerge;
  codec::FieldValidation validation_ = codec::FieldValidation::kWarn;
  std::variant<codec::Value, JsonPatch> content_;
  std::vector<std::string> problems_;  // Of the patch itself.
};

}  // namespace berth::merge
