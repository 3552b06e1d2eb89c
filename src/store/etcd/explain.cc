#include "store/etcd/explain.h"

#include <fmt/format.h>
#include <grpcpp/support/status.h>

#include <string_view>

namespace berth::store::etcd {
namespace {

bool Says(const CallError& error, std::string_view words) {
  return error.text.find(words) != std::string::npos;
}

}  // namespace

bool IsLeaseGone(const CallError& error) { return Says(error, "requested lease not found"); }

bool IsCompacted(const CallError& error) { return Says(error, "has been compacted"); }

bool IsFuture(const CallError& error) { return Says(error, "is a future revision"); }

bool IsNoSpace(const CallError& error) { return Says(error, "database space exceeded"); }

bool IsPassing(const CallError& error) {
  return error.never_sent || error.code == grpc::StatusCode::UNAVAILABLE ||
         Says(error, "too many requests");
}

base::Error ClosingError() {
  return {.reason = base::Reason::kServiceUnavailable, .message = "the store is closing"};
}

base::Error ExplainWrite(const CallError& error, const Context& context) {
  if (IsNoSpace(error)) {
    const std::string why =
        "etcd is out of space and takes no writes: free some (compact, defragment) or raise its "
        "--quota-backend-bytes, then disarm the alarm (etcdctl alarm disarm)";
    context.status.Trouble(Status::Area::kWrites, why);
    return {.reason = base::Reason::kServiceUnavailable, .message = why};
  }
  if (Says(error, "too many operations in txn request")) {
    return {.reason = base::Reason::kRequestEntityTooLarge,
            .message = fmt::format("etcd takes fewer operations in a transaction than "
                                   "--etcd-max-txn-ops={} says; set that to its --max-txn-ops",
                                   context.layout.max_txn_ops)};
  }
  if (Says(error, "request is too large")) {
    return {.reason = base::Reason::kRequestEntityTooLarge,
            .message =
                "etcd takes no request of this size; its --max-request-bytes must be at "
                "least 1572864"};
  }
  return error.error;
}

}  // namespace berth::store::etcd
