#include "store/etcd/calls_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "store/etcd/channel.h"

namespace berth::store::etcd::wire {
namespace {

using base::Reason;
using grpc::StatusCode;

/// etcd's text, and that of the server's gRPC if a request exceeds even its limit.
constexpr std::string_view kTooLarge = "etcdserver: request is too large";
constexpr std::string_view kTooLargeForGrpc = "grpc: received message larger than max";

/// Returns whether the member refused before it looked at the request, because it cannot serve.
bool IsTurnedAway(std::string_view text) {
  return text == "no leader" || text == "not capable" || text == "rpc not supported for learner";
}

/// Returns whether a new login is needed. "user name is empty" means that authentication was
/// switched on after this client connected.
bool IsLoginNeeded(std::string_view text) {
  return text == "invalid auth token" || text == "revision of auth store is old" ||
         text == "user name is empty";
}

/// Returns whether etcd, after this answer, has certainly not done what was asked and will not do
/// it.
bool IsDefinite(StatusCode code, std::string_view message) {
  switch (code) {
    case StatusCode::INVALID_ARGUMENT:
    case StatusCode::OUT_OF_RANGE:
    case StatusCode::FAILED_PRECONDITION:
    case StatusCode::NOT_FOUND:
    case StatusCode::PERMISSION_DENIED:
    case StatusCode::UNAUTHENTICATED:
    case StatusCode::UNIMPLEMENTED:
      return true;
    case StatusCode::RESOURCE_EXHAUSTED:
      // A broken connection may end with this code as well.
      return EtcdText(message) == "too many requests" || message.starts_with(kTooLargeForGrpc);
    case StatusCode::UNAVAILABLE:
      return IsTurnedAway(EtcdText(message));
    default:
      return false;
  }
}

struct Saying {
  std::string_view etcd;
  Reason reason;
  std::string_view person;
};

/// Texts for people that replace etcd's own, and their reasons.
constexpr std::array kSayings = {
    Saying{"mvcc: required revision has been compacted", Reason::kExpired,
           "the revision asked for has been compacted"},
    Saying{"mvcc: required revision is a future revision", Reason::kBadRequest,
           "the revision asked for lies in the future"},
    Saying{"mvcc: database space exceeded", Reason::kServiceUnavailable,
           "etcd's database is full: raise its --quota-backend-bytes, or compact and defragment "
           "it, then clear its NOSPACE alarm"},
    Saying{"request is too large", Reason::kRequestEntityTooLarge,
           "the request is larger than etcd takes (its --max-request-bytes)"},
    Saying{"too many operations in txn request", Reason::kRequestEntityTooLarge,
           "the transaction has more operations than etcd takes (its --max-txn-ops)"},
    Saying{"too many requests", Reason::kTooManyRequests, "etcd is overloaded"},
    Saying{"no leader", Reason::kServiceUnavailable, "the member has no leader"},
    Saying{"leader changed", Reason::kServiceUnavailable, "the leader changed meanwhile"},
    Saying{"server stopped", Reason::kServiceUnavailable, "the member is being stopped"},
    Saying{"not capable", Reason::kServiceUnavailable, "the member is still starting"},
    Saying{"permission denied", Reason::kInternalError,
           "the user lacks the permission for this in etcd"},
    Saying{"authentication failed, invalid user ID or password", Reason::kInternalError,
           "wrong user or password"},
    Saying{"user name is empty", Reason::kInternalError, "etcd requires a user and a password"},
    Saying{"invalid auth token", Reason::kInternalError, "etcd no longer accepts the login"},
};

Reason ReasonOf(StatusCode code) {
  switch (code) {
    case StatusCode::UNAVAILABLE:
    case StatusCode::CANCELLED:
    case StatusCode::RESOURCE_EXHAUSTED:
      return Reason::kServiceUnavailable;
    case StatusCode::DEADLINE_EXCEEDED:
      return Reason::kTimeout;
    case StatusCode::INVALID_ARGUMENT:
    case StatusCode::OUT_OF_RANGE:
      return Reason::kBadRequest;
    case StatusCode::NOT_FOUND:
      return Reason::kNotFound;
    default:
      return Reason::kInternalError;
  }
}

/// Shortens gRPC's text about a failed connection, which is long and has what matters in the
/// middle.
std::string ConnectionText(std::string_view message) {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
      {"Connection refused", "nothing listens there (connection refused)"},
      {"No route to host", "no route to host"},
      {"Network is unreachable", "network is unreachable"},
      {"Connection reset", "the connection was lost"},
      {"Broken pipe", "the connection was lost"},
      {"Socket closed", "the connection was lost"},
      {"GOAWAY", "the connection was closed by the server"},
      {"keepalive watchdog timeout", "the connection went silent"},
      {"http1.x server", "it speaks HTTP/1 only, so it is not an etcd"},
      {"DNS resolution failed", "its host is unknown"}};
  for (const auto& [part, words] : kKnown) {
    if (message.find(part) != std::string_view::npos) return std::string(words);
  }
  return Bounded(message);
}

/// The result refers to static text or to `message`.
Saying Translate(StatusCode code, std::string_view message) {
  const std::string_view text = EtcdText(message);
  const auto* const found = std::find_if(kSayings.begin(), kSayings.end(),
                                         [&](const Saying& saying) { return saying.etcd == text; });
  if (!text.empty() && found != kSayings.end()) return *found;
  if (message.starts_with(kTooLargeForGrpc)) return Translate(code, kTooLarge);
  Saying other{text, ReasonOf(code), text};
  if (text.empty() && code == StatusCode::DEADLINE_EXCEEDED) other.person = "no answer in time";
  if (text.empty() && code == StatusCode::UNIMPLEMENTED) {
    other.person = "it is not an etcd (or one older than 3.4)";
  }
  return other;
}

}  // namespace

std::string_view EtcdText(std::string_view message) {
  // Reasons of cancelled watches come as "rpc error: code = X desc = etcdserver: ...".
  constexpr std::string_view kOwn = "etcdserver: ";
  const size_t at = message.find(kOwn);
  if (at != 0 && !message.starts_with("rpc error: ")) return {};
  return at == std::string_view::npos ? std::string_view() : message.substr(at + kOwn.size());
}

bool WasSent(const grpc::Status& status, std::string_view peer) {
  if (status.error_code() != StatusCode::UNAVAILABLE || !IsTarget(peer)) return true;
  // gRPC reports this for a call that it found no connection for. Once a call has a connection, it
  // ends with that connection (gRPC repeats nothing) and with another text.
  const std::string message = status.error_message();
  return !message.starts_with("failed to connect to all addresses") &&
         !message.starts_with("DNS resolution failed");
}

Verdict Judge(const grpc::Status& status, bool sent, bool write) {
  const StatusCode code = status.error_code();
  const std::string message = status.error_message();
  const std::string_view text = EtcdText(message);
  const bool out_of_reach =
      code == StatusCode::UNAVAILABLE || code == StatusCode::DEADLINE_EXCEEDED;
  Verdict verdict;
  verdict.login = IsLoginNeeded(text);
  verdict.ambiguous = write && sent && !IsDefinite(code, message);
  // etcd checks its quota before it proposes a write, and again when it applies the write. The
  // second time it applies the write all the same and answers with this error.
  verdict.settled = verdict.ambiguous && text == "mvcc: database space exceeded";
  verdict.endpoint_ill = !sent || out_of_reach;
  const bool nothing_happened = !sent || (code == StatusCode::UNAVAILABLE && IsTurnedAway(text));
  verdict.repeatable =
      nothing_happened || (!write && (out_of_reach || code == StatusCode::CANCELLED));
  return verdict;
}

std::string Explain(const grpc::Status& status) {
  const std::string message = status.error_message();
  const std::string_view person = Translate(status.error_code(), message).person;
  return person.empty() ? ConnectionText(message) : Bounded(person);
}

CallError MakeCallError(const grpc::Status& status, bool sent, bool write, std::string_view where) {
  const std::string message = status.error_message();
  const Verdict verdict = Judge(status, sent, write);
  return {.error = {.reason = Translate(status.error_code(), message).reason,
                    .message = fmt::format("etcd at {}: {}", where, Explain(status))},
          .ambiguous = verdict.ambiguous,
          .never_sent = !sent,
          .code = status.error_code(),
          .text = Bounded(message),
          .settled = verdict.settled};
}

}  // namespace berth::store::etcd::wire
