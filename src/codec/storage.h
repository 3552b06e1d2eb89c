// Stored objects: the same bytes as kube-apiserver stores (Kubernetes protobuf in its envelope), or
// JSON for kinds that have no protobuf form. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// Encodes an object. resourceVersion and selfLink are left empty, as in Kubernetes.
std::string EncodeStored(const Value& canonical, const api::Kind& kind);

struct Stored {
  const api::Kind* kind = nullptr;  // The kind as served; may be newer than the bytes.
  Value object;                     // Canonical, without resourceVersion.
};

/// Decodes either form of any known kind. An Error, kInternalError, says what
/// is wrong with the bytes.
base::Result<Stored> DecodeStored(std::string_view bytes);

}  // namespace berth::codec
