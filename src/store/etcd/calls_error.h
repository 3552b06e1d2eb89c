// What a failed call means: whether it may have happened, whether it may be repeated, and what to
// tell a person. Pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include <string>
#include <string_view>

#include "store/etcd/etcd_client.h"

namespace berth::store::etcd::wire {

struct Verdict {
  bool ambiguous = false;   // See CallError.
  bool settled = false;     // See CallError.
  bool repeatable = false;  // It did not happen, or it changes nothing; it may be sent again.
  /// The member, or the connection to it, is in trouble; try another one.
  bool endpoint_ill = false;
  bool login = false;  // The token is no longer valid; nothing has happened.
};

/// Returns whether the call may have been sent to a server. Returns false only if it certainly was
/// not.
bool WasSent(const grpc::Status& status, std::string_view peer);

/// Judges a failed call. `sent` is the result of WasSent; `write` says whether the call changes
/// anything.
Verdict Judge(const grpc::Status& status, bool sent, bool write);

/// Returns the fault in a few words, without the endpoint: "nothing listens there (connection
/// refused)".
std::string Explain(const grpc::Status& status);

/// Returns the error for the caller. `where` names the endpoint.
CallError MakeCallError(const grpc::Status& status, bool sent, bool write, std::string_view where);

/// Returns etcd's own text without its prefixes, such as "no leader". Returns an empty text if the
/// message is not etcd's.
std::string_view EtcdText(std::string_view message);

}  // namespace berth::store::etcd::wire
