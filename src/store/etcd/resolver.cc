#include "store/etcd/resolver.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <utility>

#include "store/etcd/await.h"
#include "store/etcd/explain.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

using State = absl::flat_hash_map<std::string, std::optional<pb::KeyValue>>;

/// Number of keys per read; well below the limit of any etcd.
constexpr size_t kReadAtOnce = 64;

/// Returns every key whose state before the Txn decides what the Txn did.
std::vector<std::string> KeysOf(const KeyMap& keys, const Group& group) {
  std::vector<std::string> all;
  for (const Group::Member& member : group.Members()) {
    for (const Compare& compare : member.txn->compares) all.push_back(keys.ToEtcd(compare.key));
    for (const std::string& key : member.txn->deletes) all.push_back(keys.ToEtcd(key));
  }
  return all;
}

int64_t ModOf(const std::optional<pb::KeyValue>& kv) { return kv ? kv->mod_revision() : 0; }

MemberResult Evaluate(const KeyMap& keys, const Group::Member& member, bool alone,
                      const State& before) {
  MemberResult result{.succeeded = true, .deleted = {}, .compared = {}};
  for (size_t i = 0; i < member.mods.size(); ++i) {
    const auto& current = before.at(keys.ToEtcd(member.txn->compares[i].key));
    result.compared.push_back(current);
    // A member that is alone has its receipt in the branch of its own compares, so they held.
    if (!alone && ModOf(current) != member.mods[i]) result.succeeded = false;
  }
  for (const std::string& key : member.txn->deletes) {
    result.deleted.push_back(before.at(keys.ToEtcd(key)).has_value());
  }
  return result;
}

enum class Read : uint8_t { kDone, kCompacted, kStopped };

/// Reads the keys as they were at the revision. Repeats reads that fail, unless the revision was
/// compacted.
Read ReadAt(const Context& context, const std::vector<std::string>& keys, int64_t revision,
            const std::function<void()>& meanwhile, State& state) {
  Backoff backoff;
  for (size_t begin = 0; begin < keys.size();) {
    const size_t end = std::min(begin + kReadAtOnce, keys.size());
    pb::TxnRequest request;
    for (size_t i = begin; i < end; ++i) {
      pb::RangeRequest& range = *request.add_success()->mutable_request_range();
      range.set_key(keys[i]);
      range.set_revision(revision);
    }
    const auto reply = AwaitTxn(context.client, context.stop, std::move(request), kAttempt);
    if (reply && *reply && static_cast<size_t>((*reply)->responses_size()) == end - begin) {
      for (size_t i = begin; i < end; ++i) {
        const pb::RangeResponse& range =
            (*reply)->responses(static_cast<int>(i - begin)).response_range();
        auto& value = state[keys[i]];
        if (range.kvs_size() > 0) value = range.kvs(0);
      }
      begin = end;
      continue;
    }
    if (reply && !*reply && IsCompacted(reply->error())) return Read::kCompacted;
    meanwhile();
    if (!backoff.Sleep(context.stop)) return Read::kStopped;
  }
  return Read::kDone;
}

Verdict Unknown(std::string message) {
  Verdict verdict;
  verdict.error = {.reason = base::Reason::kTimeout, .message = std::move(message)};
  return verdict;
}

}  // namespace

std::optional<Verdict> Resolver::Find(const Group& group, const Envelope& envelope,
                                      const std::function<void()>& meanwhile) const {
  Backoff backoff;
  for (;;) {
    pb::RangeRequest request;
    request.set_key(envelope.receipt_key);
    const auto reply = AwaitRange(context_.client, context_.stop, request, kAttempt);
    if (reply && *reply) {
      if ((*reply)->kvs_size() == 0) {
        return Unknown(
            "it can no longer be known whether the write happened: this process was taken for "
            "dead and its receipts were removed from etcd; read the current state");
      }
      const pb::KeyValue& receipt = (*reply)->kvs(0);
      if (receipt.value() != envelope.receipt) {
        Verdict none;
        none.kind = Verdict::Kind::kNotCommitted;
        return none;
      }
      return Reconstruct(group, receipt.mod_revision(), meanwhile);
    }
    context_.status.Trouble(
        Status::Area::kUnknown,
        fmt::format("writes wait until etcd says what became of earlier ones: {}",
                    reply ? reply->error().error.message : "etcd does not answer"));
    meanwhile();
    if (!backoff.Sleep(context_.stop)) return std::nullopt;
  }
}

std::optional<Verdict> Resolver::Reconstruct(const Group& group, int64_t mod,
                                             const std::function<void()>& meanwhile) const {
  const KeyMap& keys = context_.layout.keys;
  State before;
  switch (ReadAt(context_, KeysOf(keys, group), mod - 1, meanwhile, before)) {
    case Read::kStopped:
      return std::nullopt;
    case Read::kCompacted:
      return Unknown(
          "it can no longer be known whether the write happened: etcd's history was compacted "
          "before it could be read; read the current state");
    case Read::kDone:
      break;
  }
  Verdict verdict;
  verdict.kind = Verdict::Kind::kCommitted;
  verdict.mod = mod;
  const bool alone = group.Members().size() == 1;
  for (const Group::Member& member : group.Members()) {
    verdict.members.push_back(Evaluate(keys, member, alone, before));
  }
  return verdict;
}

}  // namespace berth::store::etcd
