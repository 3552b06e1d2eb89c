// Server-side apply: a client sends the fields that it wants to set, and owns them from then on.
//
// The configuration is merged into the live object. Fields that the manager applied last time and
// no longer mentions are deleted, unless another manager owns them. A field that would change and
// belongs to another manager is a conflict, unless the client forces the apply. Two managers that
// apply the same value share the field.
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

/// A configuration as the client wrote it, in YAML or JSON.
struct ApplyConfig {
  codec::Value document;                   // Any document.
  std::vector<std::string> warnings = {};  // For kWarn.
  /// For kStrict: the error about duplicate keys. It is reported only if there is no other error.
  std::optional<base::Error> refusal = {};
};
/// Parses a configuration. Returns kBadRequest if that fails.
base::Result<ApplyConfig> ReadApplyConfig(std::string_view text, codec::FieldValidation validation);

struct ApplyOptions {
  bool force = false;  // Take conflicting fields from their owners.
};

/// Returns the canonical object after the apply with its managedFields set, to be defaulted and
/// validated like any other. `live` is canonical, and empty if the object does not exist yet.
/// `config` is the document that the client sent. Names are not compared with those of the request.
///
/// The manager `kubectl` may overrule fields that, by the object's last-applied annotation, kubectl
/// itself set with client-side apply. An apply by `kubectl` also keeps that annotation up to date.
///
/// Errors: kBadRequest; kConflict with one cause for each field; kUnknown (500, as in Kubernetes)
/// for a configuration that does not fit the types.
base::Result<codec::Value> Apply(const FieldWrite& write, const ApplyOptions& options,
                                 const codec::Value& live, const codec::Value& config);

}  // namespace berth::merge
