#include "store/etcd/etcd_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "store/etcd/events.h"
#include "store/etcd/ticker.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// One lost stream does not matter. The trouble is reported when the next ones fail too.
constexpr int kQuietFailures = 3;

}  // namespace

Feed::Feed(const Context& context, EventRing& ring, const Marker& marker, int64_t from)
    : context_(context),
      ring_(ring),
      marker_key_(context.layout.keys.ToEtcd(kMarkerKey)),
      marker_text_(MarkerText(marker)),
      last_(from) {}

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
    if (context_.stop || context_.status.ReadStop()) return;
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
      context_.status.Trouble(Status::Area::kFeed, fmt::format("no events come from etcd: {}",
                                                               ending.error.error.message));
    }
    if (!backoff.Sleep(context_.stop)) return;
    CheckWitness();
  }
}

/// Reads the witness. A stream cannot tell that etcd has not come to the witness's revision: it
/// waits for it.
void Feed::CheckWitness() {
  const Witness witness = context_.time_line.Newest();
  const int64_t seen = context_.status.Seen();
  const auto reply = AwaitRange(context_.client, context_.stop, WitnessRequest(witness));
  if (reply) Accept(context_, witness, *reply, seen);
}

Feed::Ending Feed::RunStream() {
  const KeyRange all = context_.layout.keys.All();
  pb::WatchCreateRequest request;
  request.set_key(all.begin);
  request.set_range_end(all.end);
  // The first stream has nothing to prove: nothing has come from a stream yet.
  witness_ = context_.time_line.Newest();
  verified_ = !fed_;
  request.set_start_revision(verified_ ? last_ + 1 : std::min(witness_.mod, last_ + 1));
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
  if (response.events_size() == 0 || !Verify(response)) return;
  Decoded decoded = Decode(context_.layout, response, last_);
  if (decoded.last == 0) return;
  last_ = decoded.last;
  fed_ = true;
  context_.status.Saw(last_);
  for (const pb::Event& event : response.events()) {
    if (event.type() == pb::Event::PUT) context_.time_line.See(event.kv());
  }
  const Revision head = context_.layout.revisions.Head(decoded.last);
  if (decoded.foreign) {
    context_.log.Warn("another program wrote to Berth's prefix in etcd; all watches start over",
                      {{"revision", decoded.last}});
    ring_.Break(head);
    return;
  }
  for (const Event& event : decoded.events) {
    if (event.type == Event::Type::kPut) context_.known.Note(event.key, event.revision);
  }
  ring_.Append(std::move(decoded.events), head, decoded.tick);
}

/// Looks whether the first events of a stream have the witness. Returns false and stops the engine
/// if they do not. Also stops it if the marker changed.
bool Feed::Verify(const pb::WatchResponse& response) {
  if (context_.status.ReadStop()) return false;
  if (!verified_) {
    verified_ = std::any_of(response.events().begin(), response.events().end(),
                            [this](const pb::Event& event) {
                              return event.type() == pb::Event::PUT && witness_.Is(event.kv());
                            });
    if (!verified_) StopForTimeLine(context_, witness_);
  }
  for (const pb::Event& event : response.events()) {
    if (event.kv().key() != marker_key_ || event.kv().mod_revision() <= last_) continue;
    CheckMarker(context_, marker_text_,
                event.type() == pb::Event::PUT ? event.kv().value() : std::string());
  }
  return !context_.status.ReadStop();
}

/// Starts over because events are missing for good. The tick creates a revision that has an event
/// of its own, so that a reader of history up to that revision finds an end (past.h). It is also
/// the next witness, because the last one can no longer be read.
bool Feed::StartOver() {
  context_.log.Warn("etcd no longer has the events that were missed; all watches start over",
                    {{"after", last_}});
  Backoff backoff;
  do {
    if (!HasOwnReceipt()) continue;
    if (context_.status.ReadStop()) return false;
    const pb::TxnRequest tick = TickRequest(context_);
    const auto reply = AwaitTxn(context_.client, context_.stop, tick);
    if (!reply) return false;
    if (!*reply) continue;
    pb::KeyValue put;
    put.set_key(tick.success(0).request_put().key());
    put.set_value(tick.success(0).request_put().value());
    put.set_mod_revision((*reply)->header().revision());
    context_.time_line.See(put);
    // The watch begins with the tick itself.
    last_ = put.mod_revision() - 1;
    ring_.Break(context_.layout.revisions.Head(last_));
    return true;
  } while (backoff.Sleep(context_.stop));
  return false;
}

/// Looks for the newest receipt of this process that the feed has seen, or a later one. Stops the
/// engine if it is missing. Returns false if etcd does not answer.
bool Feed::HasOwnReceipt() {
  const Witness own = context_.time_line.Own();
  pb::RangeRequest request;
  request.set_key(own.key);
  const auto reply = AwaitRange(context_.client, context_.stop, std::move(request));
  if (!reply || !*reply) return false;
  const bool there = (*reply)->kvs_size() == 1 && (*reply)->kvs(0).mod_revision() >= own.mod &&
                     std::strtoull((*reply)->kvs(0).value().c_str(), nullptr, 10) >=
                         std::strtoull(own.value.c_str(), nullptr, 10);
  if (!there) StopForTimeLine(context_, own);
  return true;
}

}  // namespace berth::store::etcd
