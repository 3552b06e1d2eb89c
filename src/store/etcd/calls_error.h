// What a failed call means: whether it may have happened, whether it may be repeated, and what to
// tell a person. Pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include <string>
#include <string_view>

#include "store/etcd/client.h"

namespace berth::store::etcd::wire {

struct Verdict {
  bool ambiguous = false;     // See CallError.
  bool settled = false;       // See CallError.
  bool repeatable = false;    // It did not happen, or it changes nothing: may be sent again.
  bool endpoint_ill = false;  // The member or the way there is in trouble: try another one.
  bool login = false;         // The token is no longer good; nothing has happened.
};

/// Whether the call may have left for a server. False only when it is certain that it has not.
bool WasSent(const grpc::Status& status, std::string_view peer);

/// `sent`: as WasSent says. `write`: the call changes something.
Verdict Judge(const grpc::Status& status, bool sent, bool write);

/// The fault in a few words, without the endpoint: "nothing listens there (connection refused)".
std::string Explain(const grpc::Status& status);

/// The error for the caller. `where` names the endpoint.
CallError MakeCallError(const grpc::Status& status, bool sent, bool write, std::string_view where);

/// etcd's own words, without its prefixes: "no leader"; empty when the status is not etcd's.
std::string_view EtcdText(std::string_view message);

}  // namespace berth::store::etcd::wire
