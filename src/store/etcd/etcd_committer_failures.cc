// What the committer does if etcd's answer is not a plain one: etcd refused the request, another
// process changed what every request compares, or no answer came and the outcome must be resolved.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/etcd/etcd_committer.h"
#include "store/etcd/explain.h"

namespace berth::store::etcd {

/// Does the work that has to wait for etcd.
void Committer::Unstick() {
  ResolveLost();
  if (!epoch_gone_) return;
  if (const auto mod = epoch_.Renew([this] { Meanwhile(); })) {
    epoch_mod_ = std::max(epoch_mod_, *mod);
    epoch_gone_ = false;
  }
  context_.status.Fine(Status::Area::kUnknown);
}

/// Handles a request whose marker or epoch compare failed. Nothing happened.
void Committer::MeetEnvelope(Lane& lane, const Unpacked& unpacked) {
  const std::string marker = unpacked.marker ? unpacked.marker->value() : std::string();
  const auto objection = CheckMarker(context_, marker_text_, marker);
  if (!objection) marker_mod_ = std::max(marker_mod_, unpacked.marker->mod_revision());
  if (unpacked.epoch) {
    epoch_mod_ = std::max(epoch_mod_, unpacked.epoch->mod_revision());
  } else if (lane.envelope.epoch_mod == epoch_mod_) {
    context_.log.Warn("this process was taken for dead by etcd; its fence is put anew");
    epoch_gone_ = true;
  }
  if (!objection) return Requeue(Free(lane));
  for (JobPtr& job : Free(lane)) Refuse(std::move(job), *objection);
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
  // It may be the fault of one member. Sent alone, the others do not suffer from it.
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
  // Putting the epoch key once after they were sent serves all of them.
  const bool open = std::any_of(lanes_.begin(), lanes_.end(), [this](const Lane& lane) {
    return lane.lost && !lane.settled && lane.envelope.epoch_mod == epoch_mod_;
  });
  if (open) {
    const auto mod = epoch_.Renew(meanwhile);
    if (!mod) return;
    epoch_mod_ = std::max(epoch_mod_, *mod);
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
