#include "store/etcd/etcd_reader.h"

#include <algorithm>
#include <utility>

#include "store/check.h"
#include "store/etcd/await.h"
#include "store/etcd/explain.h"
#include "store/etcd/page_read.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// Returns the entries that the keys of an etcd revision's later events had before these events.
Overlay Undoing(const std::vector<EventPtr>& events, const ScanRequest& request) {
  Overlay overlay;
  for (const EventPtr& event : events) {
    if (event->revision <= request.at || event->key <= request.after ||
        !event->key.starts_with(request.prefix)) {
      continue;
    }
    overlay[event->key] = event->previous;
  }
  return overlay;
}

}  // namespace

Reader::Reader(const Context& context, Past& past, int64_t first, Revision compacted)
    : context_(context), past_(past), first_(first), compacted_(compacted.value) {}

void Reader::SetCompacted(Revision compacted) {
  int64_t current = compacted_.load();
  while (current < compacted.value && !compacted_.compare_exchange_weak(current, compacted.value)) {
  }
}

void Reader::Get(const std::string& key, Done<std::optional<Entry>> done) {
  if (auto error = CheckKey(key)) return done(tl::unexpected(*error));
  if (auto error = context_.status.ReadStop()) return done(tl::unexpected(*error));
  if (!KeyMap::Covers(key) || IsEngineKey(key)) return done(std::nullopt);
  pb::RangeRequest request;
  request.set_key(context_.layout.keys.ToEtcd(key));
  const int64_t seen = context_.status.Seen();
  context_.client.Range(std::move(request),
                        [this, seen, done = std::move(done)](CallResult<pb::RangeResponse> reply) {
                          if (!reply) return done(tl::unexpected(reply.error().error));
                          if (!context_.status.Check(reply->header(), seen)) {
                            return done(tl::unexpected(*context_.status.ReadStop()));
                          }
                          if (reply->kvs_size() == 0) return done(std::nullopt);
                          Entry entry = context_.layout.EntryOf(reply->kvs(0));
                          context_.known.Note(entry.key, entry.revision);
                          done(std::move(entry));
                        });
}

void Reader::Current(Done<Revision> done) {
  if (auto error = context_.status.ReadStop()) return done(tl::unexpected(*error));
  std::vector<Done<Revision>> served;
  {
    base::MutexLock lock(mutex_);
    current_next_.push_back(std::move(done));
    if (std::exchange(current_under_way_, true)) return;
    served.swap(current_next_);
  }
  SendCurrent(std::move(served));
}

/// Sends one read, which serves all callers that asked before it. It reads the witness, because a
/// snapshot that has the current revision may still be of another time line. A plain one reads the
/// witness as it is now, because its history is compacted. An engine that follows no events has no
/// witness, and reads the marker instead.
void Reader::SendCurrent(std::vector<Done<Revision>> served, bool plain) {
  Witness witness = context_.time_line.Newest();
  pb::RangeRequest request = WitnessRequest(witness);
  if (witness.mod == 0) {
    request.set_key(context_.layout.keys.ToEtcd(kMarkerKey));
    plain = true;
  }
  if (plain) request.clear_revision();
  const int64_t seen = context_.status.Seen();
  context_.client.Range(
      std::move(request), [this, seen, plain, witness = std::move(witness),
                           served = std::move(served)](CallResult<pb::RangeResponse> reply) {
        if (!reply && !plain && IsCompacted(reply.error()))
          return SendCurrent(served, /*plain=*/true);
        const bool accepted = plain ? !reply || context_.status.Check(reply->header(), seen)
                                    : Accept(context_, witness, reply, seen);
        base::Result<Revision> result;
        if (!accepted) {
          result = tl::unexpected(*context_.status.ReadStop());
        } else if (!reply) {
          result = tl::unexpected(reply.error().error);
        } else {
          result = context_.layout.revisions.Head(reply->header().revision());
        }
        for (const Done<Revision>& done : served) done(result);

        std::vector<Done<Revision>> next;
        {
          base::MutexLock lock(mutex_);
          next.swap(current_next_);
          current_under_way_ = !next.empty();
        }
        if (next.empty()) return;
        if (!context_.stop) return SendCurrent(std::move(next));
        for (const Done<Revision>& done : next) {
          done(tl::unexpected(ClosingError()));
        }
      });
}

void Reader::Scan(ScanRequest request, Done<ScanPage> done) {
  if (auto error = CheckScan(request)) return done(tl::unexpected(*error));
  if (auto error = context_.status.ReadStop()) return done(tl::unexpected(*error));
  const Revision compacted = Compacted();
  const EventPosition position = context_.layout.revisions.Of(request.at);
  if (request.at && (request.at < compacted || position.mod < first_)) {
    const Revision before_first = context_.layout.revisions.Head(first_ - 1);
    return done(tl::unexpected(CompactedError(request.at, std::max(compacted, before_first))));
  }
  if (position.mod == 0 || position.slot == kHeadSlot) {
    std::make_shared<PageRead>(context_, std::move(request), position.mod, Overlay{}, compacted,
                               std::move(done))
        ->Start();
    return;
  }
  worker_.Post([this, request = std::move(request), position, done = std::move(done)] {
    ScanInside(request, position.mod, done);
  });
}

/// Checks whether the state at an etcd revision can be read. Returns nullopt if it can.
std::optional<base::Error> Reader::Probe(const ScanRequest& request, int64_t mod) const {
  pb::RangeRequest probe;
  probe.set_key(context_.layout.keys.ToEtcd(kMarkerKey));
  probe.set_count_only(true);
  probe.set_revision(mod);
  const auto reply = AwaitRange(context_.client, context_.stop, std::move(probe));
  if (!reply) return ClosingError();
  if (*reply) return std::nullopt;
  return ExplainRead(reply->error(), context_, request.at, Compacted());
}

void Reader::ScanInside(const ScanRequest& request, int64_t mod, const Done<ScanPage>& done) {
  // There are no events to wait for if the revision is in the future.
  if (auto error = Probe(request, mod)) return done(tl::unexpected(*error));
  const auto events = past_.OfRevision(mod);
  if (!events) return done(tl::unexpected(events.error()));
  // The previous values in the events are complete as long as the state before them still exists.
  if (auto error = Probe(request, mod - 1)) return done(tl::unexpected(*error));
  std::make_shared<PageRead>(context_, request, mod, Undoing(*events, request), Compacted(), done)
      ->Start();
}

}  // namespace berth::store::etcd
