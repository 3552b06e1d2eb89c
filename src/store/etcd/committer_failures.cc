// What the committer does when etcd's answer is not a plain one: it refused, somebody changed what
// every request compares, or no answer came and it has to be found out what happened.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/etcd/committer.h"
#include "store/etcd/explain.h"

namespace berth::store::etcd {

/// What has to wait for etcd.
void Committer::Unstick() {
  ResolveLost();
  if (!fence_gone_) return;
  if (const auto epoch = fence_.Renew([this] { Meanwhile(); })) {
    epoch_ = std::max(epoch_, *epoch);
    fence_gone_ = false;
  }
  context_.status.Fine(Status::Area::kUnknown);
}

/// Marker or fence are not what they were: nothing happened.
void Committer::MeetEnvelope(Lane& lane, const Unpacked& unpacked) {
  if (!unpacked.marker || unpacked.marker->value() != marker_text_) {
    context_.status.Stop(
        fmt::format("the marker {} in etcd {} while this process was running: the store was "
                    "{}. Restart Berth to follow it",
                    marker_key_, unpacked.marker ? "changed" : "was removed",
                    unpacked.marker ? "converted" : "wiped"),
        /*reads=*/false);
  } else {
    marker_mod_ = std::max(marker_mod_, unpacked.marker->mod_revision());
  }
  if (unpacked.fence) {
    epoch_ = std::max(epoch_, unpacked.fence->mod_revision());
  } else if (lane.envelope.fence_mod == epoch_) {
    context_.log.Warn("this process was taken for dead by etcd; its fence is put anew");
    fence_gone_ = true;
  }
  Requeue(Free(lane));
}

void Committer::Failed(Lane& lane, const CallError& error) {
  last_failure_ = error.error.message;
  if (error.ambiguous) {
    if (error.settled) lane.settled = error;
    return Lose(lane);
  }
  Jobs jobs = Free(lane);
  if (IsLeaseGone(error)) {
    for (JobPtr& job : jobs) {
      for (const auto& [ttl, lease] : job->leases) leases_.Forget(ttl);
      job->leases.clear();
      Prepare(std::move(job));
    }
    return;
  }
  if (IsPassing(error)) {
    context_.status.Trouble(Status::Area::kWrites, error.error.message);
    paused_until_ = context_.clock.Steady() + backoff_.Next();
    return Requeue(std::move(jobs));
  }
  if (jobs.size() == 1 || IsNoSpace(error)) {
    for (JobPtr& job : jobs) Refuse(std::move(job), ExplainWrite(error, context_));
    return;
  }
  // It may be one member's fault: then it is that member's alone.
  for (JobPtr& job : jobs) job->alone = true;
  Requeue(std::move(jobs));
}

void Committer::Lose(Lane& lane) {
  lane.lost = true;
  ++lost_;
}

void Committer::ResolveLost() {
  if (lost_ == 0) return;
  const auto meanwhile = [this] { Meanwhile(); };
  // A fence put after they were sent serves all of them.
  const bool open = std::any_of(lanes_.begin(), lanes_.end(), [this](const Lane& lane) {
    return lane.lost && !lane.settled && lane.envelope.fence_mod == epoch_;
  });
  if (open) {
    const auto epoch = fence_.Renew(meanwhile);
    if (!epoch) return;
    epoch_ = std::max(epoch_, *epoch);
  }
  for (Lane& lane : lanes_) {
    if (!lane.lost) continue;
    const auto verdict = resolver_.Find(*lane.group, lane.envelope, meanwhile);
    if (!verdict) return;
    Resolved(lane, *verdict);
  }
  context_.status.Fine(Status::Area::kUnknown);
}

void Committer::Resolved(Lane& lane, const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::kCommitted) return Settle(lane, verdict.mod, verdict.members);
  const std::optional<CallError> settled = std::exchange(lane.settled, {});
  Jobs jobs = Free(lane);
  if (verdict.kind == Verdict::Kind::kUnknown) {
    for (JobPtr& job : jobs) {
      TxnReply reply;
      reply.error = verdict.error;
      Finish(std::move(job), std::move(reply));
    }
  } else if (settled) {
    for (JobPtr& job : jobs) Refuse(std::move(job), ExplainWrite(*settled, context_));
  } else {
    Requeue(std::move(jobs));
  }
}

}  // namespace berth::store::etcd
