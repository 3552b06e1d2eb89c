#include "store/etcd/etcd_past.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "store/check.h"
#include "store/etcd/await.h"
#include "store/etcd/events.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

using Clock = std::chrono::steady_clock;

constexpr size_t kChunkEvents = 4096;
constexpr size_t kChunkBytes = size_t{4} << 20;
constexpr size_t kKept = 4;
constexpr std::chrono::seconds kLimit{15};
constexpr std::chrono::milliseconds kSilence{500};

size_t BytesOf(const Event& event) {
  return event.key.size() + event.value.size() +
         (event.previous ? event.previous->value.size() : 0);
}

/// Passes the responses of a watch from the client's thread to the waiting thread.
class Mailbox {
 public:
  WatchCallbacks Callbacks() {
    return {.on_response =
                [this](pb::WatchResponse response) {
                  base::MutexLock lock(mutex_);
                  responses_.push_back(std::move(response));
                  changed_.NotifyAll();
                },
            .on_end =
                [this](CallError error) {
                  base::MutexLock lock(mutex_);
                  end_ = std::move(error);
                  changed_.NotifyAll();
                }};
  }

  /// Returns the next response, or nullopt if the stream ended (then End says how) or the time is
  /// over.
  std::optional<pb::WatchResponse> Next(std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    base::MutexLock lock(mutex_);
    while (responses_.empty() && !end_ && Clock::now() < until) {
      changed_.WaitFor(mutex_, until - Clock::now());
    }
    if (responses_.empty()) return std::nullopt;
    pb::WatchResponse response = std::move(responses_.front());
    responses_.pop_front();
    return response;
  }

  std::optional<CallError> End() {
    base::MutexLock lock(mutex_);
    return end_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<pb::WatchResponse> responses_ GUARDED_BY(mutex_);
  std::optional<CallError> end_ GUARDED_BY(mutex_);
};

base::Error ForeignError() {
  return {.reason = base::Reason::kExpired,
          .message =
              "another program wrote to Berth's prefix in etcd; start over from the current state"};
}

base::Error SlowError() {
  return {.reason = base::Reason::kTimeout,
          .message = fmt::format("etcd did not send its history within {} s", kLimit.count())};
}

}  // namespace

base::Result<WatchBatch> Past::ReadHistory(const HistoryRequest& request) {
  const Revisions& revisions = context_.layout.revisions;
  WatchBatch batch{.events = {}, .progress = request.upto};
  const int64_t last = revisions.Of(request.upto).mod;
  const int64_t from = std::max(revisions.FirstAfter(request.after), first_);
  if (request.after >= request.upto || from > last) return batch;
  const auto chunk = Load(from, last);
  if (!chunk) return tl::unexpected(chunk.error());
  batch.progress = std::min(request.upto, revisions.Head((*chunk)->to));
  for (const EventPtr& event : (*chunk)->events) {
    if (event->revision <= request.after || event->revision > request.upto) continue;
    if (!event->key.starts_with(request.prefix)) continue;
    if (batch.events.size() == request.max) {
      batch.progress = batch.events.back()->revision;
      break;
    }
    batch.events.push_back(event);
  }
  return batch;
}

base::Result<std::vector<EventPtr>> Past::OfRevision(int64_t mod) {
  const auto chunk = Load(mod, mod);
  if (!chunk) return tl::unexpected(chunk.error());
  std::vector<EventPtr> events;
  for (const EventPtr& event : (*chunk)->events) {
    if (context_.layout.revisions.Of(event->revision).mod == mod) events.push_back(event);
  }
  return events;
}

base::Result<Past::ChunkPtr> Past::Load(int64_t from, int64_t upto) {
  base::MutexLock lock(mutex_);
  for (auto it = recent_.begin(); it != recent_.end(); ++it) {
    if ((*it)->from <= from && from <= (*it)->to) {
      recent_.splice(recent_.begin(), recent_, it);
      return recent_.front();
    }
  }
  auto chunk = Fetch(from, upto);
  if (!chunk) return chunk;
  recent_.push_front(*chunk);
  if (recent_.size() > kKept) recent_.pop_back();
  return chunk;
}

base::Result<Past::ChunkPtr> Past::Fetch(int64_t from, int64_t upto) {
  const KeyRange all = context_.layout.keys.All();
  pb::WatchCreateRequest request;
  request.set_key(all.begin);
  request.set_range_end(all.end);
  request.set_start_revision(from);
  request.set_prev_kv(true);
  request.set_fragment(true);
  Mailbox mailbox;
  const auto stream = context_.client.Watch(request, mailbox.Callbacks());

  auto chunk = std::make_shared<Chunk>(Chunk{.from = from, .to = from - 1, .events = {}});
  size_t bytes = 0;
  const auto until = Clock::now() + kLimit;
  while (chunk->to < upto && chunk->events.size() < kChunkEvents && bytes < kChunkBytes) {
    if (context_.stop || Clock::now() >= until) return tl::unexpected(SlowError());
    const auto response = mailbox.Next(kSilence);
    if (!response) {
      if (const auto end = mailbox.End()) return tl::unexpected(end->error);
      ticker_.Request();
      continue;
    }
    if (response->canceled()) {
      if (response->compact_revision() == 0) continue;  // The end of the stream has the reason.
      return tl::unexpected(
          CompactedError(context_.layout.revisions.At(from, 0),
                         context_.layout.revisions.Head(response->compact_revision())));
    }
    Decoded decoded = Decode(context_.layout, *response, chunk->to);
    if (decoded.foreign) return tl::unexpected(ForeignError());
    if (decoded.last != 0) chunk->to = decoded.last;
    for (Event& event : decoded.events) {
      bytes += BytesOf(event);
      chunk->events.push_back(std::make_shared<const Event>(std::move(event)));
    }
  }
  return chunk;
}

}  // namespace berth::store::etcd
