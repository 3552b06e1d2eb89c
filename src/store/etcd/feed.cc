#include "store/etcd/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/etcd/events.h"
#include "store/etcd/ticker.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// One lost stream is nothing; people hear of it when the next ones fail too.
constexpr int kQuietFailures = 3;

}  // namespace

Feed::~Feed() { End(); }

void Feed::Start() {
  std::call_once(started_, [this] {
    last_ = std::max(last_, context_.status.Seen());
    ring_.Break(context_.layout.revisions.Head(last_));
    thread_ = std::thread([this] { Run(); });
  });
}

void Feed::End() {
  {
    base::MutexLock lock(mutex_);
    ended_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Feed::Run() {
  Backoff backoff;
  int failures = 0;
  while (!context_.stop) {
    const Ending ending = RunStream();
    if (context_.stop) return;
    if (ending.compacted) {
      if (!StartOver()) return;
      continue;
    }
    if (alive_) {
      failures = 0;
      backoff.Reset();
    }
    context_.log.Debug("the watch on etcd ended", {{"why", ending.error.error.message}});
    if (++failures > kQuietFailures) {
      context_.status.Trouble(Status::Area::kFeed, fmt::format("events of etcd do not come: {}",
                                                               ending.error.error.message));
    }
    if (!backoff.Sleep(context_.stop)) return;
  }
}

Feed::Ending Feed::RunStream() {
  const KeyRange all = context_.layout.keys.All();
  pb::WatchCreateRequest request;
  request.set_key(all.begin);
  request.set_range_end(all.end);
  request.set_start_revision(last_ + 1);
  request.set_prev_kv(true);
  request.set_fragment(true);
  compacted_ = false;
  alive_ = false;
  {
    base::MutexLock lock(mutex_);
    end_.reset();
  }
  const auto stream = context_.client.Watch(
      request, {.on_response = [this](const pb::WatchResponse& response) { Take(response); },
                .on_end =
                    [this](CallError error) {
                      base::MutexLock lock(mutex_);
                      end_ = std::move(error);
                      ended_.NotifyAll();
                    }});
  base::MutexLock lock(mutex_);
  while (!end_ && !context_.stop) ended_.Wait(mutex_);
  if (!end_) return {};
  return {.error = *end_, .compacted = compacted_};
}

void Feed::Take(const pb::WatchResponse& response) {
  if (response.canceled()) {
    compacted_ = response.compact_revision() > 0;
    return;
  }
  alive_ = true;
  context_.status.Fine(Status::Area::kFeed);
  Decoded decoded = Decode(context_.layout, response, last_);
  if (decoded.last == 0) return;
  last_ = decoded.last;
  const Revision head = context_.layout.revisions.Head(decoded.last);
  if (decoded.foreign) {
    context_.log.Warn("somebody else wrote to Berth's prefix in etcd; all watches start over",
                      {{"revision", decoded.last}});
    ring_.Break(head);
    return;
  }
  for (const Event& event : decoded.events) {
    if (event.type == Event::Type::kPut) context_.known.Note(event.key, event.revision);
  }
  ring_.Append(std::move(decoded.events), head, decoded.tick);
}

/// Events are missing for good. The tick gives a revision that has an event of its own, so that
/// whoever reads history up to it finds an end (past.h).
bool Feed::StartOver() {
  context_.log.Warn("etcd no longer has the events that were missed; all watches start over",
                    {{"after", last_}});
  Backoff backoff;
  for (;;) {
    const auto reply = AwaitTxn(context_.client, context_.stop, TickRequest(context_.layout));
    if (!reply) return false;
    if (*reply) {
      // The watch begins with the tick itself.
      last_ = (*reply)->header().revision() - 1;
      ring_.Break(context_.layout.revisions.Head(last_));
      return true;
    }
    if (!backoff.Sleep(context_.stop)) return false;
  }
}

}  // namespace berth::store::etcd
