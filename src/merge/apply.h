// Server-side apply: the client says which fields it wants to be what, and owns these from then on.
//
// The configuration is merged into the live object. Fields that the manager applied last time and
// no longer mentions go, unless somebody else owns them. A field that would change and belongs to
// somebody else is a conflict, unless the client insists. Two managers that apply the same value
// share the field.
//
// Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"
#include "merge/managed_fields.h"

namespace berth::merge {

/// What a client applies, as it wrote it, in YAML or JSON.
struct ApplyConfig {
  codec::Value document;                   // Whatever it is.
  std::vector<std::string> warnings = {};  // Of kWarn.
  /// kStrict: it has keys twice. Told only if there is nothing else to be said against it.
  std::optional<base::Error> refusal = {};
};
/// kBadRequest: it cannot be read.
base::Result<ApplyConfig> ReadApplyConfig(std::string_view text, codec::FieldValidation validation);

struct ApplyOptions {
  bool force = false;  // Take conflicting fields from their owners.
};

/// The canonical object after the apply, its managedFields set, to be defaulted and validated like
/// any other. `live` is canonical, an empty object if there is none yet; `config` is the document
/// the client sent. Names are not compared with those of the request.
///
/// What is applied by manager `kubectl` may overrule what the object's last-applied annotation says
/// kubectl applied itself, from the client's side; and keeps that annotation up to date.
///
/// Errors: kBadRequest; kConflict with one cause for each field; kUnknown (500, as upstream) for a
/// configuration that does not fit the types.
base::Result<codec::Value> Apply(const FieldWrite& write, const ApplyOptions& options,
                                 const codec::Value& live, const codec::Value& config);

}  // namespace berth::merge
