// Request bodies: from bytes to an object of the kind that the path names, and to DeleteOptions.
// Pure.
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

/// An object of the view in the form it is stored in.
base::Result<codec::Value> ToStoredForm(const registry::Served& served, codec::Value object);

/// The object in the form it was sent in. Problems that are only to be warned of are added to the
/// call's warnings.
base::Result<codec::Value> ReadObject(Call& call, FieldValidation validation);

struct DeleteRequest {
  registry::DeleteOptions options;
  bool dry_run = false;
  bool waits = false;  // Asked in the old way to wait: 202 while it is not gone.
};
/// From the body if there is one, else from the query.
base::Result<DeleteRequest> ReadDeleteOptions(const Call& call);

/// Where Kubernetes' own type for a group's kinds lives, which its messages name.
std::string_view GoPackage(std::string_view group);

/// What of a body's name and namespace does not go with the path.
std::optional<base::Error> CheckNamespace(const Route& route, codec::Value& object);
std::optional<base::Error> CheckName(const Route& route, codec::Value& object);

}  // namespace berth::server
