#include "state/past.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace berth::state {
namespace {

ObjectPtr DecodeObject(const Resources& resources, const Identity& identity, std::string_view value,
                       int64_t revision) {
  const base::Result<WireText> wire = resources.At(identity.resource).decode(value);
  return wire ? Object::Make(identity, revision, *wire) : nullptr;
}

/// Returns nullopt if the key belongs to no resource, or if neither state can be decoded.
std::optional<Change> DecodeChange(const Resources& resources, const store::Event& event) {
  const std::optional<Identity> identity = resources.Find(event.key);
  if (!identity) return std::nullopt;
  Change change{.revision = event.revision.value, .resource = identity->resource};
  if (event.type == store::Event::Type::kPut) {
    change.object = DecodeObject(resources, *identity, event.value, event.revision.value);
  }
  if (event.previous) {
    change.previous =
        DecodeObject(resources, *identity, event.previous->value, event.previous->revision.value);
  }
  if (!change.object && !change.previous) return std::nullopt;
  return change;
}

}  // namespace

base::Result<PastBatch> PastChanges::Read(size_t max) {
  request_.max = std::max<size_t>(max, 1);
  base::Result<store::WatchBatch> events = engine_.ReadHistory(request_);
  if (!events) return tl::unexpected(std::move(events.error()));
  PastBatch batch{.progress = events->progress.value};
  for (const store::EventPtr& event : events->events) {
    batch.progress = std::max(batch.progress, event->revision.value);
    const bool lost = event->type == store::Event::Type::kDelete && !event->previous;
    if (lost && resources_.Find(event->key)) {
      // A watch reports a deletion with the last state, so it cannot report this one.
      return base::Fail(base::Reason::kExpired,
                        "the last state of a deleted object is no longer in history");
    }
    if (std::optional<Change> change = DecodeChange(resources_, *event)) {
      batch.changes.push_back(std::move(*change));
    }
  }
  if (batch.progress <= request_.after.value) batch.progress = request_.upto.value;
  request_.after.value = batch.progress;
  return batch;
}

std::unique_ptr<PastChanges> Past::Changes(std::string prefix, int64_t after, int64_t upto) const {
  return std::make_unique<PastChanges>(
      engine_, resources_,
      store::HistoryRequest{.prefix = std::move(prefix), .after = {after}, .upto = {upto}});
}

void Past::ReadPage(std::string prefix, std::string after, int64_t revision, size_t limit,
                    std::function<void(base::Result<PastPage>)> done) const {
  store::ScanRequest request{.prefix = std::move(prefix),
                             .after = std::move(after),
                             .at = {revision},
                             .limit = std::clamp<size_t>(limit, 1, store::kMaxPageEntries)};
  const Resources& resources = resources_;
  engine_.Scan(std::move(request), [&resources,
                                    done = std::move(done)](base::Result<store::ScanPage> entries) {
    if (!entries) return done(tl::unexpected(std::move(entries.error())));
    PastPage page{.more = entries->more};
    for (const store::Entry& entry : entries->entries) {
      const std::optional<Identity> identity = resources.Find(entry.key);
      if (!identity) continue;
      ObjectPtr object = DecodeObject(resources, *identity, entry.value, entry.revision.value);
      if (object) page.objects.push_back(std::move(object));
    }
    if (!entries->entries.empty()) page.last_key = std::move(entries->entries.back().key);
    done(std::move(page));
  });
}

}  // namespace berth::state
