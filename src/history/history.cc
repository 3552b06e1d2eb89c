#include "history/history.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "history/segment_reader.h"

namespace berth::history {
namespace {

using base::Reason;
using base::Result;

constexpr std::chrono::seconds kSyncEvery{5};
constexpr std::chrono::seconds kRetryAfter{5};
constexpr Millis kMarkEvery = 30'000;
/// A segment ends when it has this part of the time to keep, so that old ones can be removed.
constexpr int kSegmentsInTime = 10;
constexpr uint64_t kSegmentsInBytes = 4;
/// A segment is at least this many times as large as its checkpoint, so that checkpoints are a
/// small part of the whole.
constexpr uint64_t kCheckpointShare = 3;

/// Kubernetes' names are shorter and have no slash. Only a file can show others.
bool IsNameUsable(const Owner& owner) {
  const auto usable = [](const std::string& text) {
    return text.size() <= kMaxNameBytes && text.find('/') == std::string::npos;
  };
  return usable(owner.name_space) && usable(owner.name) && owner.uid.size() <= kMaxNameBytes;
}

}  // namespace

History::History(HistoryOptions options, const base::Clock& clock, base::Logger& log, base::Fd lock)
    : options_(std::move(options)), clock_(clock), log_(log), lock_(std::move(lock)) {}

Result<std::unique_ptr<History>> History::Open(HistoryOptions options, const base::Clock& clock,
                                               base::Logger& log) {
  auto lock = LockDirectory(options.directory);
  if (!lock) return tl::unexpected(lock.error());
  RemoveUnfinished(options.directory);
  std::unique_ptr<History> history(new History(std::move(options), clock, log, *std::move(lock)));
  if (auto loaded = history->Load(); !loaded) return tl::unexpected(loaded.error());
  return history;
}

History::~History() {
  const base::MutexLock lock(mutex_);
  if (IsComplete() && seen_) Mark(EntryKind::kSeen, *seen_);
  if (writer_) Check(writer_->Sync());
}

// ------------------------------------------------------------------------------------------------
// Opening

Result<void> History::Load() {
  const base::MutexLock lock(mutex_);
  const auto files = ListSegments(options_.directory);
  if (!files) return tl::unexpected(files.error());
  if (!files->empty()) next_number_ = files->back().number + 1;
  for (auto file = files->rbegin(); file != files->rend(); ++file) {
    const bool is_last = file == files->rbegin();
    if (LoadSegment(*file, is_last)) break;
    log_.Warn("a segment of the history cannot be used; answers will name the gap",
              {{"file", file->path}});
  }
  if (writer_) {
    other_segments_ = files->size() - 1;
    other_bytes_ = 0;
    for (const SegmentFile& file : *files) {
      if (file.number != writer_->number()) other_bytes_ += file.bytes;
    }
    return {};
  }
  return BeginSegment();
}

bool History::LoadSegment(const SegmentFile& file, bool is_last) {
  auto reader = SegmentReader::OpenFile(file.path, file.number);
  if (!reader) return false;
  holders_.all().clear();
  values_ = 0;
  segment_start_ = reader->header().start;
  time_ = std::max(time_, segment_start_);
  seen_ = reader->header().seen;
  revision_ = reader->header().revision;
  bool whole = false;
  Entry entry;
  while (reader->Next(entry)) {
    if (entry.kind == EntryKind::kChecked) {
      whole = true;
      checkpoint_bytes_ = reader->good_bytes();
    }
    const bool of_owner = entry.kind == EntryKind::kHeld || entry.kind == EntryKind::kTaken ||
                          entry.kind == EntryKind::kReleased;
    if (of_owner) Replay(entry, reader->OwnerOf(entry.owner), file.number);
    if (ProvesSeen(entry)) seen_ = std::max(seen_.value_or(0), entry.time);
    if (entry.kind != EntryKind::kHeld) time_ = std::max(time_, entry.time);
    if (entry.revision != 0) revision_ = entry.revision;
  }
  if (!whole) {
    holders_.all().clear();
    values_ = 0;
    seen_.reset();
    return false;
  }
  // What stands after the damage may be readable one day. It is kept, and a new segment begins.
  if (!is_last || reader->HasBlocksAfterDamage()) return true;
  if (reader->damaged()) {
    log_.Warn("the history ends with an unfinished write, which is cut off",
              {{"file", file.path}, {"bytes", reader->good_bytes()}});
  }
  auto writer = SegmentWriter::Continue(file.path, file.number, reader->good_bytes(),
                                        reader->entries().state());
  if (writer) writer_ = *std::move(writer);
  return true;
}

void History::Replay(const Entry& entry, const Owner& owner, uint64_t segment) {
  if (entry.kind == EntryKind::kReleased) {
    Holder* holder = holders_.Find(owner.name_space, owner.name);
    if (holder == nullptr) return;
    values_ -=
        std::erase_if(holder->holds, [&](const Hold& hold) { return hold.Is(entry.held.value); });
    if (holder->holds.empty()) holders_.Erase(owner.name_space, owner.name);
    return;
  }
  Holder& holder = holders_.Get(owner);
  holder.segment = segment;
  holder.number = entry.owner;
  holder.holds.emplace_back(entry.held, entry.time, entry.earliest);
  ++values_;
}

// ------------------------------------------------------------------------------------------------
// Segments

Result<void> History::WriteCheckpoint(SegmentWriter& writer) {
  for (auto& element : holders_.all()) {
    Holder& holder = element.second;
    for (const Hold& hold : holder.holds) {
      const Entry entry{.kind = EntryKind::kHeld,
                        .time = hold.since(),
                        .earliest = hold.earliest(),
                        .held = hold.held(),
                        .owner = holder.number};
      const bool numbered = holder.segment == writer.number();
      auto written = numbered
                         ? writer.Append(entry)
                         : writer.AppendWithOwner(entry, Holders::OwnerOf(element), holder.number);
      if (!written) return written;
      holder.segment = writer.number();
    }
  }
  return {};
}

Result<void> History::BeginSegment() {
  const SegmentHeader header{
      .number = next_number_++, .start = Now(), .seen = seen_, .revision = revision_};
  auto writer = SegmentWriter::Create(SegmentPath(options_.directory, header.number), header);
  if (!writer) return tl::unexpected(writer.error());
  if (auto written = WriteCheckpoint(**writer); !written) return written;
  if (auto published = (*writer)->Publish(); !published) return published;
  writer_ = *std::move(writer);
  checkpoint_bytes_ = writer_->bytes();
  segment_start_ = time_ = header.start;
  synced_ = clock_.Steady();
  DropOldSegments();
  return {};
}

uint64_t History::SegmentLimit() const {
  const uint64_t wanted = std::max(options_.segment_bytes, kCheckpointShare * checkpoint_bytes_);
  const uint64_t room = options_.keep_bytes / kSegmentsInBytes;
  return std::max(std::min(wanted, room), checkpoint_bytes_ + checkpoint_bytes_ / 2);
}

void History::EndSegmentIfDue() {
  if (!writer_) return;
  const bool large = writer_->bytes() > SegmentLimit();
  const auto oldest = std::chrono::milliseconds(options_.keep) / kSegmentsInTime;
  const bool old = Now() - segment_start_ > oldest.count() && writer_->bytes() > checkpoint_bytes_;
  if (!large && !old) return;
  if (IsComplete() && seen_) Mark(EntryKind::kSeen, *seen_);
  if (writer_) Check(writer_->Sync());
  if (writer_) Check(BeginSegment());
}

void History::DropOldSegments() {
  auto files = ListSegments(options_.directory);
  if (!files) return;
  uint64_t bytes = 0;
  for (const SegmentFile& file : *files) bytes += file.bytes;
  const Millis keep = std::chrono::milliseconds(options_.keep).count();
  size_t dropped = 0;
  for (; dropped + 1 < files->size(); ++dropped) {
    const SegmentFile& file = (*files)[dropped];
    const SegmentFile& next = (*files)[dropped + 1];
    bool is_old = false;
    if (const auto reader = SegmentReader::OpenFile(next.path, next.number)) {
      is_old = reader->header().start < Now() - keep;
    }
    if (!is_old && bytes + SegmentLimit() <= options_.keep_bytes) break;
    std::error_code error;
    std::filesystem::remove(file.path, error);
    if (error) break;
    bytes -= file.bytes;
  }
  other_segments_ = files->size() - dropped - 1;
  other_bytes_ = bytes - files->back().bytes;
}

void History::Check(Result<void> written) {
  if (written) return;
  if (trouble_.empty()) {
    log_.Error("the history cannot be written; it has a gap from here on",
               {{"why", written.error().message}});
  }
  trouble_ = written.error().message;
  writer_.reset();
  retry_ = clock_.Steady() + kRetryAfter;
}

// ------------------------------------------------------------------------------------------------
// Changes

Millis History::Now() const { return std::max(MillisOf(clock_.Now()), time_); }

void History::NoteRevision(int64_t revision) {
  if (revision > 0) revision_ = revision;
}

Entry History::ChangeNow(EntryKind kind, const Held& held, std::optional<base::WallTime> created) {
  Entry entry{.kind = kind, .time = Now(), .revision = revision_, .held = held};
  if (IsComplete() && !late_) {
    entry.earliest = seen_ = entry.time;
  } else {
    entry.earliest = seen_;
    if (kind == EntryKind::kTaken && created) {
      entry.earliest = std::max(entry.earliest.value_or(0), MillisOf(*created));
    }
    // One that is equal to the time would mean that the change was seen.
    if (entry.earliest) entry.earliest = std::min(*entry.earliest, entry.time - 1);
  }
  time_ = entry.time;
  ++changes_;
  return entry;
}

void History::Append(Entry entry, const Owner& owner, Holder& holder) {
  if (!writer_) return;
  if (holder.segment == writer_->number()) {
    entry.owner = holder.number;
    Check(writer_->Append(entry));
    return;
  }
  holder.segment = writer_->number();
  Check(writer_->AppendWithOwner(entry, owner, holder.number));
}

void History::Take(const Held& held, const ServiceState& service, Holder& holder) {
  const Entry entry = ChangeNow(EntryKind::kTaken, held, service.created);
  Append(entry, service.owner, holder);
  holder.holds.emplace_back(held, entry.time, entry.earliest);
  ++values_;
}

void History::Release(const Owner& owner, Holder& holder,
                      const std::function<bool(const Hold&)>& gone) {
  values_ -= std::erase_if(holder.holds, [&](const Hold& hold) NO_THREAD_SAFETY_ANALYSIS {
    if (!gone(hold)) return false;
    Append(ChangeNow(EntryKind::kReleased, hold.held(), {}), owner, holder);
    return true;
  });
}

void History::ReleaseAll(const Owner& owner, Holder& holder) {
  Release(owner, holder, [](const Hold&) { return true; });
}

void History::Mark(EntryKind kind, Millis time) {
  time_ = std::max(time_, time);
  seen_ = marked_ = time;
  if (writer_) Check(writer_->Append({.kind = kind, .time = time, .revision = revision_}));
}

void History::MarkSeen() {
  if (IsComplete() && seen_ && *seen_ > marked_) Mark(EntryKind::kSeen, *seen_);
}

void History::BeginList() {
  const base::MutexLock lock(mutex_);
  listing_ = true;
  ++list_;
}

void History::AbandonList() {
  const base::MutexLock lock(mutex_);
  listing_ = listed_ = false;
}

void History::EndList(int64_t revision) {
  const base::MutexLock lock(mutex_);
  if (!listing_) return;
  NoteRevision(revision);
  auto& all = holders_.all();
  for (auto element = all.begin(); element != all.end();) {
    if (element->second.list == list_) {
      ++element;
      continue;
    }
    ReleaseAll(Holders::OwnerOf(*element), element->second);
    element = all.erase(element);
  }
  listing_ = late_ = false;
  listed_ = ever_listed_ = true;
  ++lists_;
  Mark(EntryKind::kListed, Now());
  EndSegmentIfDue();
}

void History::Put(const ServiceState& service) {
  const base::MutexLock lock(mutex_);
  if (!IsNameUsable(service.owner)) return;
  NoteRevision(service.revision);
  Holder* holder = holders_.Find(service.owner.name_space, service.owner.name);
  if (holder != nullptr) {
    const std::string uid = holder->Uid();
    const bool is_other = uid != service.owner.uid;
    Owner before = service.owner;
    before.uid = uid;
    Release(before, *holder, [&](const Hold& hold) {
      return is_other || std::ranges::none_of(service.holds, [&hold](const Held& held) {
               return hold.Is(held.value);
             });
    });
    if (is_other || service.holds.empty()) {
      holders_.Erase(service.owner.name_space, service.owner.name);
    }
  }
  if (!service.holds.empty()) {
    Holder& now = holders_.Get(service.owner);
    now.list = list_;
    for (const Held& held : service.holds) {
      const bool known =
          std::ranges::any_of(now.holds, [&held](const Hold& hold) { return hold.Is(held.value); });
      if (!known) Take(held, service, now);
    }
  }
  EndSegmentIfDue();
}

void History::Remove(std::string_view name_space, std::string_view name, int64_t revision) {
  const base::MutexLock lock(mutex_);
  NoteRevision(revision);
  Holder* holder = holders_.Find(name_space, name);
  if (holder == nullptr) return;
  const Owner owner{
      .name_space = std::string(name_space), .name = std::string(name), .uid = holder->Uid()};
  ReleaseAll(owner, *holder);
  holders_.Erase(name_space, name);
  EndSegmentIfDue();
}

void History::Seen(int64_t revision) {
  const base::MutexLock lock(mutex_);
  if (!IsComplete()) return;
  late_ = false;
  NoteRevision(revision);
  seen_ = Now();
  if (*seen_ - marked_ >= kMarkEvery) Mark(EntryKind::kSeen, *seen_);
  EndSegmentIfDue();
}

void History::Late() {
  const base::MutexLock lock(mutex_);
  MarkSeen();
  late_ = true;
}

void History::Lost() {
  const base::MutexLock lock(mutex_);
  MarkSeen();
  listed_ = false;
}

void History::Count(const std::vector<RangeCount>& counts) {
  const base::MutexLock lock(mutex_);
  for (const RangeCount& count : counts) {
    if (!writer_ || count.range.size() > kMaxNameBytes) continue;
    time_ = Now();
    Check(writer_->Append({.kind = EntryKind::kCounts, .time = time_, .counts = count}));
  }
  EndSegmentIfDue();
}

// ------------------------------------------------------------------------------------------------
// Writing

void History::Tick() {
  const base::MutexLock lock(mutex_);
  const base::SteadyTime now = clock_.Steady();
  if (!writer_) {
    if (now < retry_) return;
    if (auto begun = BeginSegment(); !begun) {
      Check(std::move(begun));
      return;
    }
    log_.Info("the history is written again");
    trouble_.clear();
  }
  if (writer_->needs_sync() && now - synced_ >= kSyncEvery) {
    synced_ = now;
    Check(writer_->Sync());
  } else {
    Check(writer_->Flush());
  }
  EndSegmentIfDue();
}

Result<void> History::Flush() {
  const base::MutexLock lock(mutex_);
  MarkSeen();
  if (writer_) Check(writer_->Flush());
  if (!trouble_.empty()) return base::Fail(Reason::kInternalError, trouble_);
  return {};
}

Result<void> History::Sync() {
  const base::MutexLock lock(mutex_);
  MarkSeen();
  if (writer_) Check(writer_->Sync());
  if (!trouble_.empty()) return base::Fail(Reason::kInternalError, trouble_);
  return {};
}

void History::ForEach(const Visit& visit) const {
  const base::MutexLock lock(mutex_);
  for (const auto& element : holders_.all()) {
    visit(Holders::OwnerOf(element), element.second.holds);
  }
}

HistoryStats History::stats() const {
  const base::MutexLock lock(mutex_);
  return {.changes = changes_,
          .lists = lists_,
          .bytes = other_bytes_ + (writer_ ? writer_->bytes() : 0),
          .segments = other_segments_ + (writer_ ? 1U : 0U),
          .services = holders_.all().size(),
          .values = values_,
          .listed = ever_listed_,
          .seen = seen_ ? std::optional(TimeOf(*seen_)) : std::nullopt,
          .trouble = trouble_};
}

}  // namespace berth::history
