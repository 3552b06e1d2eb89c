// What the ports of Endpoints and of EndpointSlices have in common. Pure.
#pragma once

#include "codec/read.h"
#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/names.h"

namespace berth::rules {

/// Checks the protocols of a port, which has its defaults.
inline void RequireEndpointProtocols(FieldErrors& errors, const Path& path,
                                     const codec::Value& port) {
  const std::string_view protocol = StringAt(port, "protocol");
  if (!HasAt(port, "protocol")) {
    errors.Required(path.Child("protocol"));
  } else if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    errors.NotSupported(path.Child("protocol"), protocol, {"SCTP", "TCP", "UDP"});
  }
  if (const codec::Value* app = FindAt(port, "appProtocol"); app != nullptr) {
    errors.InvalidEach(path.Child("appProtocol"), Text(app), QualifiedNameProblems(Text(app)));
  }
}

}  // namespace berth::rules
