// Reads the values in use from a parsed `kubectl get svc -o json`. For use by used.cc.
#pragma once

#include "base/result.h"
#include "berth/plan/used.h"
#include "codec/value.h"

namespace berth::cli {

/// `document` is a Service, a list object with `items`, or an array of Services. A field that is
/// missing or null is empty, as in the API; a field of the wrong type is an Error.
base::Result<Used> ReadServices(const codec::Value& document);

}  // namespace berth::cli
