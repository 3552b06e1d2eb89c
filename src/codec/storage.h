// Objects as they are stored: the bytes kube-apiserver would store (Kubernetes protobuf in its
// envelope), or JSON for kinds that have no protobuf form. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// resourceVersion and selfLink are left empty, as everybody stores them.
std::string EncodeStored(const Value& canonical, const api::Kind& kind);

struct Stored {
  const api::Kind* kind = nullptr;  // As it is served: its version may be newer than what was read.
  Value object;                     // Canonical, without resourceVersion.
};

/// Either form of any kind that is known. An Error, kInternalError, says what is wrong with the
/// bytes.
base::Result<Stored> DecodeStored(std::string_view bytes);

}  // namespace berth::codec
