// Applies the text of a patch to an object: JSON Patch, merge patch and strategic merge patch, with
// the errors and warnings of kube-apiserver. Server-side apply is in apply.h.
//
// Pure. A Patch is immutable and may be applied from any thread, and again whenever the object has
// changed before the write was committed.
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
  std::vector<std::string> warnings = {};  // For kWarn.
};

class Patch {
 public:
  /// Returns kBadRequest if the text is not such a patch, and kRequestEntityTooLarge if it has too
  /// many operations. Kubernetes looks for the object first: if the object does not exist, it
  /// answers 404 even to a malformed patch.
  static base::Result<Patch> Parse(PatchKind kind, std::string_view text,
                                   codec::FieldValidation validation);

  /// Applies the patch. `current` is canonical, of the kind's message, and has its
  /// resourceVersion. So is the result; defaults are not filled in, and name and namespace are not
  /// compared. Returns kInvalid if the patch does not apply, if its result is not an object of the
  /// kind, or, with kStrict, if it has unknown or duplicate fields. Returns kUnknown where
  /// Kubernetes answers 500 without a reason.
  base::Result<Patched> Apply(const codec::Value& current, const api::Kind& kind) const;

 private:
  Patch() = default;

  /// Applies the patch to only those fields of the object, by position, and keeps all others.
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
  std::vector<std::string> problems_;  // Problems of the patch itself.
};

}  // namespace berth::merge
