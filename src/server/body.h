// Reads request bodies: objects of the kind that the path names, and DeleteOptions. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"
#include "registry/registry.h"
#include "server/call.h"
#include "server/options.h"

namespace berth::server {

/// Converts an object of the view to the form in which it is stored.
base::Result<codec::Value> ToStoredForm(const registry::Served& served, codec::Value object);

/// Returns the object of the body, as an object of the view. Adds a warning to the call for each
/// problem that the validation only warns of.
base::Result<codec::Value> ReadObject(Call& call, FieldValidation validation);

struct DeleteRequest {
  registry::DeleteOptions options;
  bool dry_run = false;
  bool waits = false;  // With orphanDependents=false: answer 202 if the object still exists.
};
/// Reads the options from the body if there is one, otherwise from the query.
base::Result<DeleteRequest> ReadDeleteOptions(const Call& call);

/// Returns the Go package that has Kubernetes' types for a group, which its messages name.
std::string_view GoPackage(std::string_view group);

/// Returns an error if the object's namespace or name does not match the path. CheckNamespace also
/// sets the object's namespace to that of the path.
std::optional<base::Error> CheckNamespace(const Route& route, codec::Value& object);
std::optional<base::Error> CheckName(const Route& route, codec::Value& object);

}  // namespace berth::server
