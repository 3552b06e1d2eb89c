#include "store/etcd/time_line.h"

#include <fmt/format.h>

#include <utility>

#include "base/go_text.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/explain.h"
#include "store/etcd/marker.h"
#include "store/keys.h"

namespace berth::store::etcd {

namespace pb = etcdserverpb;

bool Witness::Is(const pb::KeyValue& kv) const {
  return kv.mod_revision() == mod && kv.key() == key && kv.value() == value;
}

TimeLine::TimeLine(const KeyMap& keys, std::string id, std::string own_prefix)
    : tick_key_(keys.ToEtcd(kTickKey)),
      receipts_(keys.ToEtcd(kProcessFencePrefix)),
      id_(std::move(id)),
      own_prefix_(std::move(own_prefix)) {}

std::string TimeLine::Stamp() { return fmt::format("{}-{}", id_, ++stamps_); }

void TimeLine::See(const pb::KeyValue& kv) {
  // Other keys may get the same value again. So may a tick of an earlier version, which is empty.
  const bool tick = kv.key() == tick_key_ && !kv.value().empty();
  const bool receipt =
      kv.key().starts_with(receipts_) && kv.key().find('/', receipts_.size()) != std::string::npos;
  if (!tick && !receipt) return;
  base::MutexLock lock(mutex_);
  if (kv.mod_revision() <= newest_.mod) return;
  newest_ = {.mod = kv.mod_revision(), .key = kv.key(), .value = kv.value()};
  if (kv.key().starts_with(own_prefix_)) own_ = newest_;
}

Witness TimeLine::Newest() const {
  base::MutexLock lock(mutex_);
  return newest_;
}

Witness TimeLine::Own() const {
  base::MutexLock lock(mutex_);
  return own_;
}

pb::RangeRequest WitnessRequest(const Witness& witness) {
  pb::RangeRequest request;
  request.set_key(witness.key);
  request.set_revision(witness.mod);
  return request;
}

Proof Judge(const Witness& witness, const CallResult<pb::RangeResponse>& reply) {
  if (!reply) return IsFuture(reply.error()) ? Proof::kOther : Proof::kOpen;
  return reply->kvs_size() == 1 && witness.Is(reply->kvs(0)) ? Proof::kSame : Proof::kOther;
}

bool Accept(const Context& context, const Witness& witness,
            const CallResult<pb::RangeResponse>& reply, int64_t seen) {
  if (Judge(witness, reply) == Proof::kOther) {
    StopForTimeLine(context, witness);
    return false;
  }
  return !reply || context.status.Check(reply->header(), seen);
}

std::optional<base::Error> CheckMarker(const Context& context, const std::string& text,
                                       const std::string& now) {
  if (now == text) {
    context.status.Fine(Status::Area::kMarker);
    return std::nullopt;
  }
  const std::string key = context.layout.keys.ToEtcd(kMarkerKey);
  if (const auto marker = ParseMarker(now); !marker && !now.empty()) {
    std::string why = fmt::format(
        "the marker {} in etcd was changed to something that this Berth does not understand: {}",
        key, marker.error().message);
    context.status.Trouble(Status::Area::kMarker, why);
    return base::Error{.reason = base::Reason::kServiceUnavailable, .message = std::move(why)};
  }
  context.status.Stop(
      fmt::format("the marker {} in etcd {} while this process was running: {}, and the store must "
                  "be opened again",
                  key, now.empty() ? "was removed" : "changed",
                  now.empty() ? "the store was wiped" : "another time line began"),
      /*reads=*/true);
  return context.status.WriteStop();
}

void StopForTimeLine(const Context& context, const Witness& witness) {
  context.status.Stop(
      fmt::format("etcd has another past than before: at revision {} it does not have the {} that "
                  "was there. It was restored from a backup or lost what it had acknowledged, and "
                  "the store must be opened again",
                  witness.mod, base::GoQuoted(witness.key)),
      /*reads=*/true);
}

}  // namespace berth::store::etcd
