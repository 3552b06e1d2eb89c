#include "store/etcd/epoch.h"

#include <fmt/format.h>

#include <utility>

#include "store/etcd/await.h"
#include "store/etcd/explain.h"
#include "store/etcd/grouping.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

constexpr std::chrono::milliseconds kRemoveLimit{1500};
constexpr int kCreateTries = 3;
/// The value of a receipt before the first Txn of its lane.
constexpr const char* kNoReceipt = "0";

}  // namespace

Epoch::Epoch(const Context& context, const std::string& id, size_t lanes)
    : context_(context),
      key_(context.layout.keys.ToEtcd(std::string(kProcessFencePrefix) + id)),
      lanes_(lanes) {}

std::string Epoch::ReceiptKey(size_t lane) const { return fmt::format("{}/{}", key_, lane); }

pb::KeyValue Epoch::FirstReceipt(int64_t epoch) const {
  pb::KeyValue kv;
  kv.set_key(ReceiptKey(0));
  kv.set_value(kNoReceipt);
  kv.set_mod_revision(epoch);
  return kv;
}

std::optional<CallError> Epoch::Grant() {
  if (lease_ != 0) return std::nullopt;
  pb::LeaseGrantRequest request;
  request.set_ttl(kLease.count());
  const auto granted = Await<pb::LeaseGrantResponse>(
      context_.stop, [&](auto reply) { context_.client.LeaseGrant(request, std::move(reply)); });
  if (!granted) {
    CallError closing;
    closing.error = ClosingError();
    return closing;
  }
  if (!*granted) return granted->error();
  lease_ = (*granted)->id();
  return std::nullopt;
}

base::Result<int64_t> Epoch::Create(const std::string& marker_key, int64_t marker_mod) {
  for (int tries = 1;; ++tries) {
    if (auto error = Grant()) return tl::unexpected(error->error);
    pb::TxnRequest request;
    pb::Compare& compare = *request.add_compare();
    compare.set_target(pb::Compare::MOD);
    compare.set_key(marker_key);
    compare.set_mod_revision(marker_mod);
    google::protobuf::RepeatedPtrField<pb::RequestOp> puts;
    for (size_t lane = 0; lane < lanes_; ++lane) {
      pb::PutRequest& put = *puts.Add()->mutable_request_put();
      put.set_key(ReceiptKey(lane));
      put.set_value(kNoReceipt);
    }
    pb::PutRequest& put = *puts.Add()->mutable_request_put();
    put.set_key(key_);
    put.set_lease(lease_);
    if (!AppendWrites(std::move(puts), context_.layout.max_txn_ops, request)) {
      return base::Fail(base::Reason::kInvalid,
                        fmt::format("--etcd-max-txn-ops={} is too small for {} transactions under "
                                    "way at once",
                                    context_.layout.max_txn_ops, lanes_));
    }
    const auto put_reply = AwaitTxn(context_.client, context_.stop, std::move(request));
    if (!put_reply) return tl::unexpected(ClosingError());
    if (!*put_reply) {
      // Repeating the Txn does no harm: nothing has been sent with the first epoch.
      if (put_reply->error().ambiguous && tries < kCreateTries) continue;
      return tl::unexpected(put_reply->error().error);
    }
    if (!(*put_reply)->succeeded()) {
      return base::Fail(base::Reason::kConflict,
                        "the marker changed while this process was starting; start it again");
    }
    return (*put_reply)->header().revision();
  }
}

CallResult<int64_t> Epoch::Move(bool remove) {
  pb::TxnRequest request;
  if (remove) {
    request.add_success()->mutable_request_delete_range()->set_key(key_);
  } else {
    if (auto error = Grant()) return tl::unexpected(*std::move(error));
    pb::PutRequest& put = *request.add_success()->mutable_request_put();
    put.set_key(key_);
    put.set_lease(lease_);
  }
  const auto reply = AwaitTxn(context_.client, context_.stop, std::move(request), kAttempt);
  if (!reply) {
    CallError silent;
    silent.error = {.reason = base::Reason::kTimeout, .message = "etcd does not answer"};
    return tl::unexpected(std::move(silent));
  }
  if (!*reply) return tl::unexpected(reply->error());
  return (*reply)->header().revision();
}

std::optional<int64_t> Epoch::Renew(const std::function<void()>& meanwhile) {
  Backoff backoff;
  while (!context_.stop) {
    auto epoch = Move(/*remove=*/false);
    if (!epoch && IsNoSpace(epoch.error())) epoch = Move(/*remove=*/true);
    if (epoch) return *epoch;
    if (IsLeaseGone(epoch.error())) {
      lease_ = 0;
      continue;
    }
    context_.status.Trouble(
        Status::Area::kUnknown,
        fmt::format("writes wait until etcd says what became of earlier ones: {}",
                    epoch.error().error.message));
    meanwhile();
    if (!backoff.Sleep(context_.stop)) return std::nullopt;
  }
  return std::nullopt;
}

void Epoch::KeepAlive() {
  pb::LeaseKeepAliveRequest request;
  request.set_id(lease_);
  // If the lease has expired, the next write finds the epoch key missing and puts it again with a
  // new lease.
  Await<pb::LeaseKeepAliveResponse>(context_.stop, [&](auto reply) {
    context_.client.LeaseKeepAlive(request, std::move(reply));
  });
}

void Epoch::Remove() {
  const std::atomic<bool> never = false;
  pb::TxnRequest request;
  for (const std::string& begin : {key_, key_ + "/"}) {
    pb::DeleteRangeRequest& remove = *request.add_success()->mutable_request_delete_range();
    remove.set_key(begin);
    if (begin != key_) remove.set_range_end(PrefixEnd(begin));
  }
  AwaitTxn(context_.client, never, std::move(request), kRemoveLimit);
  pb::LeaseRevokeRequest revoke;
  revoke.set_id(lease_);
  Await<pb::LeaseRevokeResponse>(
      never, [&](auto reply) { context_.client.LeaseRevoke(revoke, std::move(reply)); },
      kRemoveLimit);
}

}  // namespace berth::store::etcd
