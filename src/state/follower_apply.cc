// The work of the follower's writing thread: it reads the store, follows the watch and publishes.
#include <algorithm>
#include <chrono>
#include <utility>

#include "state/follower_impl.h"
#include "store/keys.h"

namespace berth::state {
namespace {

/// How many undecodable values are logged. More are only counted.
constexpr size_t kLoggedUndecodable = 20;

/// How much is kept of the reason why a value cannot be decoded.
constexpr size_t kLongestReason = 256;

/// How often a wait for a reply checks whether the follower is stopping.
constexpr std::chrono::milliseconds kLookAround{50};

/// Returns the changes that lead from one snapshot to the next, in order of keys.
std::vector<Change> Difference(const Snapshot& before, const Snapshot& after) {
  std::vector<Change> changes;
  SnapshotIterator old = before.Seek("");
  SnapshotIterator now = after.Seek("");
  while (old.Valid() || now.Valid()) {
    const int order = !old.Valid() ? 1 : !now.Valid() ? -1 : old.Get()->CompareKey(*now.Get());
    if (order < 0) {
      changes.push_back(
          {.revision = after.Revision(), .resource = old.Get()->Resource(), .previous = old.Get()});
    } else if (order > 0) {
      changes.push_back({.revision = now.Get()->Revision(),
                         .resource = now.Get()->Resource(),
                         .object = now.Get()});
    } else if (old.Get()->Revision() != now.Get()->Revision()) {
      changes.push_back({.revision = now.Get()->Revision(),
                         .resource = now.Get()->Resource(),
                         .object = now.Get(),
                         .previous = old.Get()});
    }
    if (order <= 0) old.Next();
    if (order >= 0) now.Next();
  }
  return changes;
}

}  // namespace

void Follower::Impl::Run() {
  while (!stopping_) {
    if (!Pump()) WaitForWork();
  }
}

void Follower::Impl::WaitForWork() {
  base::MutexLock lock(mutex_);
  sleeps_until_ = NextDue();
  if (!watch_) sleeps_until_ = std::min(sleeps_until_, load_at_);
  while (!woken_ && !stopping_) {
    const base::SteadyTime now = clock_.Steady();
    if (sleeps_until_ <= now) break;
    if (sleeps_until_ == base::SteadyTime::max()) {
      work_.Wait(mutex_);
    } else {
      work_.WaitFor(mutex_, sleeps_until_ - now);
    }
  }
  sleeps_until_ = base::SteadyTime::min();
}

bool Follower::Impl::Pump() {
  {
    base::MutexLock lock(mutex_);
    woken_ = false;
  }
  bool worked = false;
  if (watch_) {
    worked = Follow();
  } else if (clock_.Steady() >= load_at_) {
    worked = Load();
  }
  return RunDue() || worked;
}

/// Reads the whole store and starts a watch after the revision that was read. Returns false if the
/// caller should try again later.
bool Follower::Impl::Load() {
  const SnapshotPtr before = Current();
  {
    base::MutexLock lock(mutex_);
    undecodable_.clear();
  }
  load_at_ = clock_.Steady() + options_.retry;
  base::Result<SnapshotPtr> read = ReadStore(*before);
  if (!read) {
    if (!stopping_) Lost(read.error());
    return false;
  }
  MissExpected();  // Some may be in the state just read, and then no event will follow.
  const SnapshotPtr& after = *read;
  watch_ = engine_.Follow({after->Revision()}, [this] { Wake(); });
  const std::vector<Change> changes = Difference(*before, *after);
  builder_.emplace(*after);
  Publish(after);
  for (Listener* listener : listeners_) listener->OnReset(changes, after->Revision());
  {
    base::MutexLock lock(mutex_);
    ready_ = true;
    stats_.trouble.clear();
    ++stats_.resets;
    became_ready_.NotifyAll();
  }
  Told(after->Revision(), 0);
  return true;
}

/// Reads the whole store into a new snapshot. Takes unchanged objects from the last snapshot.
base::Result<SnapshotPtr> Follower::Impl::ReadStore(const Snapshot& before) {
  SnapshotBuilder builder{Snapshot()};
  store::ScanRequest request{.prefix = std::string(store::kPrefix), .limit = options_.page_entries};
  std::shared_ptr<PageSlot> slot = RequestPage(request);
  for (;;) {
    base::Result<store::ScanPage> page = WaitForPage(*slot);
    if (!page) return tl::unexpected(std::move(page.error()));
    request.at = page->at;
    if (page->more) {  // The store reads the next page while this one is decoded.
      request.after = page->entries.back().key;
      slot = RequestPage(request);
    }
    for (const store::Entry& entry : page->entries) {
      const std::optional<Identity> identity = resources_.Find(entry.key);
      if (!identity) continue;
      ObjectPtr object = before.Find(entry.key);
      if (!object || object->Revision() != entry.revision.value) {
        object = MakeObject(*identity, entry.value, entry.revision.value);
      }
      if (object) builder.Put(std::move(object));
    }
    // A store that was restored to an earlier state must not take readers back in time.
    if (!page->more) return builder.Publish(std::max(page->at.value, before.Revision()));
  }
}

std::shared_ptr<Follower::Impl::PageSlot> Follower::Impl::RequestPage(store::ScanRequest request) {
  auto slot = std::make_shared<PageSlot>();
  engine_.Scan(std::move(request), [slot](base::Result<store::ScanPage> page) {
    base::MutexLock lock(slot->mutex);
    slot->page.emplace(std::move(page));
    slot->come.NotifyOne();
  });
  return slot;
}

base::Result<store::ScanPage> Follower::Impl::WaitForPage(PageSlot& slot) {
  base::MutexLock lock(slot.mutex);
  while (!slot.page) {
    if (stopping_) return base::Fail(base::Reason::kServiceUnavailable, "shutting down");
    slot.come.WaitFor(slot.mutex, kLookAround);
  }
  return std::move(*slot.page);
}

void Follower::Impl::Lost(const base::Error& error) {
  log_.Warn("reading the whole store again", {{"error", error.message}});
  base::MutexLock lock(mutex_);
  ready_ = false;
  stats_.trouble = error.message;
}

/// Reads the watch and applies its events. Returns false if there was nothing new.
bool Follower::Impl::Follow() {
  const base::Result<store::WatchBatch> batch = watch_->Poll(options_.batch_events);
  if (!batch) {
    watch_.reset();
    Lost(batch.error());
    return true;
  }
  if (batch->events.empty() && batch->progress.value <= Current()->Revision()) return false;
  Apply(*batch);
  return true;
}

void Follower::Impl::Apply(const store::WatchBatch& batch) {
  std::vector<Change> changes;
  changes.reserve(batch.events.size());
  int64_t revision = std::max(batch.progress.value, Current()->Revision());
  for (const store::EventPtr& event : batch.events) {
    revision = std::max(revision, event->revision.value);
    if (std::optional<Change> change = ApplyEvent(*event)) changes.push_back(std::move(*change));
  }
  Publish(builder_->Publish(revision));
  for (Listener* listener : listeners_) listener->OnBatch(changes, revision);
  Told(revision, batch.events.size());
}

std::optional<Change> Follower::Impl::ApplyEvent(const store::Event& event) {
  const std::optional<Identity> identity = resources_.Find(event.key);
  if (!identity) return std::nullopt;
  Change change{.revision = event.revision.value, .resource = identity->resource};
  {
    base::MutexLock lock(mutex_);
    if (!undecodable_.empty()) undecodable_.erase(event.key);
  }
  if (event.type == store::Event::Type::kPut) {
    change.object = MakeObject(*identity, event.value, event.revision.value);
  }
  // An object whose new value cannot be decoded is removed from the snapshot.
  change.previous = change.object ? builder_->Put(change.object) : builder_->Erase(event.key);
  if (event.type == store::Event::Type::kDelete) {
    const int64_t before = change.previous  ? change.previous->Revision()
                           : event.previous ? event.previous->revision.value
                                            : 0;
    MeetDelete(event.key, before, event.revision.value);
  }
  if (!change.object && !change.previous) return std::nullopt;
  return change;
}

/// Returns the object of a stored value. If the value cannot be decoded, notes that and returns
/// null.
ObjectPtr Follower::Impl::MakeObject(const Identity& identity, std::string_view value,
                                     int64_t revision) {
  if (ObjectPtr taken = TakeExpected(identity, value, revision)) {
    base::MutexLock lock(mutex_);
    ++stats_.taken_over;
    return taken;
  }
  const base::Result<WireText> wire = resources_.At(identity.resource).decode(value);
  if (!wire) {
    NoteUndecodable(identity.key, wire.error());
    return nullptr;
  }
  {
    base::MutexLock lock(mutex_);
    ++stats_.decoded;
  }
  return Object::Make(identity, revision, *wire);
}

ObjectPtr Follower::Impl::TakeExpected(const Identity& identity, std::string_view value,
                                       int64_t revision) {
  base::MutexLock lock(expected_mutex_);
  if (expected_.empty()) return nullptr;
  const auto found = expected_.find(identity.key);
  if (found == expected_.end()) return nullptr;
  Expectation& expected = *found->second;
  if (expected.deletes || expected.revision != 0) return nullptr;
  const bool same = options_.same ? options_.same(identity.key, expected.stored, value)
                                  : expected.stored == value;
  if (!same) return nullptr;
  expected.revision = revision;
  if (!expected.wire.text.empty()) {
    expected.object = Object::Make(identity, revision, expected.wire);
  }
  return expected.object;
}

void Follower::Impl::MeetDelete(const std::string& key, int64_t before, int64_t revision) {
  base::MutexLock lock(expected_mutex_);
  const auto found = expected_.find(key);
  if (found == expected_.end()) return;
  Expectation& expected = *found->second;
  if (expected.deletes && expected.before == before) expected.revision = revision;
}

void Follower::Impl::MissExpected() {
  base::MutexLock lock(expected_mutex_);
  for (auto& [key, expected] : expected_) expected->missed = true;
}

void Follower::Impl::NoteUndecodable(std::string_view key, const base::Error& error) {
  size_t known = 0;
  {
    base::MutexLock lock(mutex_);
    undecodable_.insert_or_assign(std::string(key), error.message.substr(0, kLongestReason));
    known = undecodable_.size();
  }
  if (known > kLoggedUndecodable) return;
  log_.Error("a stored value cannot be decoded and is left out",
             {{"key", key}, {"error", error.message}});
}

void Follower::Impl::Publish(SnapshotPtr snapshot) {
  base::MutexLock lock(mutex_);
  current_.swap(snapshot);  // The last snapshot is released without the lock.
  lock.Unlock();
}

}  // namespace berth::state
