#include "allocation/forms/form_switch.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "alloc/value_set.h"
#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/fences.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/repairs.h"
#include "allocation/service_values.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "state/object.h"
#include "state/wire_bitmap.h"

namespace berth::allocation {
namespace {

using alloc::PoolId;
using base::Reason;

/// As many values and records as fit into a transaction of every engine.
constexpr size_t kValuesAtOnce = 40;
constexpr size_t kRecordsAtOnce = 100;
/// More than two rounds are needed only if a bitmap is deleted meanwhile.
constexpr int kMaxRounds = 20;
constexpr int kMaxSteps = 100;

/// Bounds the time for which a process that ends waits for a store that does not answer.
constexpr std::chrono::seconds kWriteLimit{10};

constexpr const char* kStopped = "stopped before the end; a later run does the rest";

AllocationForm Origin(AllocationForm form) {
  return form == AllocationForm::kToBitmaps ? AllocationForm::kRecords : AllocationForm::kBitmaps;
}

AllocationForm Other(AllocationForm form) {
  return form == AllocationForm::kRecords ? AllocationForm::kBitmaps : AllocationForm::kRecords;
}

AllocationForm Towards(AllocationForm form) {
  return form == AllocationForm::kRecords ? AllocationForm::kToRecords : AllocationForm::kToBitmaps;
}

alloc::PerPool<int64_t> FencesIn(const state::Snapshot& snapshot) {
  alloc::PerPool<int64_t> fences{};
  for (const PoolId pool : alloc::kAllPools) {
    fences[pool] = state::RevisionOf(snapshot.Find(FenceKey(pool)));
  }
  return fences;
}

base::Error ChangedMeanwhile() {
  return {.reason = Reason::kConflict,
          .message = "another process is changing the form of allocations"};
}

commit::Decision PutOf(const registry::Row& row, const codec::Value& object) {
  return {.kind = commit::Decision::Kind::kPut,
          .stored = registry::ToStored(row, object),
          .wire = registry::ToWireText(row, object)};
}

commit::ExtraPut EmptyBitmap(const PoolBitmap& bitmap) {
  commit::ExtraPut put{.key = KeyOf(bitmap.id),
                       .stored = StoredBitmap({.range = bitmap.layout.range(), .data = {}})};
  if (auto wire = state::BitmapToWire(put.stored)) put.wire = *std::move(wire);
  return put;
}

base::Error SharedBy(const FormBlockers& shared) {
  return {.reason = Reason::kConflict,
          .message = fmt::format("two Services hold one value: {}; delete one of them, or give it "
                                 "another value, first",
                                 FormBlockersText(shared))};
}

base::Error BlockedBy(const FormBlockers& blockers) {
  return {.reason = Reason::kConflict,
          .message = fmt::format("bitmaps have no room for all that there is: {}{}",
                                 FormBlockersText(blockers),
                                 blockers.for_ever ? "" : "; --force leaves that out")};
}

}  // namespace

RunWrite WaitFor(commit::Sequencer& sequencer, const base::Clock& clock) {
  return [&sequencer, &clock](commit::Write write) {
    const auto answer = std::make_shared<std::promise<base::Result<commit::Written>>>();
    write.deadline = clock.Steady() + kWriteLimit;
    sequencer.Submit(std::move(write), [answer](base::Result<commit::Written> written) {
      answer->set_value(std::move(written));
    });
    return answer->get_future().get();
  };
}

FormSwitch::FormSwitch(Parts parts, const base::SeededRandom& random)
    : parts_(std::move(parts)),
      rows_(RecordRowsOf(parts_.registry.GetKinds())),
      services_(*parts_.registry.GetKinds().FindRow(api::kServiceKind)),
      lease_(parts_.registry, "berth-allocation-switch"),
      random_(random) {}

base::WallTime FormSwitch::LastHeardOf(const state::Snapshot& snapshot) const {
  const auto note = snapshot.Find(kFormKey);
  const base::WallTime noted = note ? SinceOf(rows_, *note) : base::WallTime();
  const auto progress = lease_.In(snapshot);
  return progress ? std::max(noted, progress->since) : noted;
}

std::optional<AllocationForm> FormSwitch::Unfinished(const FormNote& note) {
  switch (note.form) {
    case AllocationForm::kToRecords:
      return AllocationForm::kRecords;
    case AllocationForm::kToBitmaps:
      return AllocationForm::kBitmaps;
    case AllocationForm::kRecords:
    case AllocationForm::kBitmaps:
      break;
  }
  return note.removing ? std::optional(note.form) : std::nullopt;
}

base::Result<FormSwitch::Report> FormSwitch::Run(const Options& options) {
  Report report;
  std::optional<base::Error> verdict;  // Why the switch is taken back.
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const auto done = Next(options, report, verdict);
    if (!done && done.error().message == ChangedMeanwhile().message) continue;
    if (!done) return tl::unexpected(done.error());
    if (!*done) continue;
    if (verdict) return tl::unexpected(*verdict);
    return report;
  }
  return tl::unexpected(ChangedMeanwhile());
}

/// Does one step. Returns whether nothing is left to do.
base::Result<bool> FormSwitch::Next(const Options& options, Report& report,
                                    std::optional<base::Error>& verdict) {
  const state::SnapshotPtr snapshot = parts_.follower.Current();
  const Work work{.note = FormIn(rows_, *snapshot),
                  .revision = state::RevisionOf(snapshot->Find(kFormKey)),
                  .fences = FencesIn(*snapshot),
                  .options = options,
                  .report = report};
  const AllocationForm to = verdict ? Other(options.to) : options.to;
  const auto note = [&](const FormNote& next, bool with_bitmaps = false) {
    return PutNote(work, next, with_bitmaps).map([] { return false; });
  };
  if (work.note.removing) return Remove(work).map([] { return false; });
  if (work.note.form == to) return true;
  const bool begun = work.note.form == Towards(to);
  const bool back = !begun && Unfinished(work.note);
  if (back) return note({.form = Origin(work.note.form), .removing = true});
  if (auto objection = FindObjection(work, to, *snapshot)) {
    if (!begun) return tl::unexpected(*std::move(objection));
    verdict = std::move(objection);
    return note({.form = Origin(work.note.form), .removing = true});
  }
  if (!begun) {
    return note({.form = Towards(to), .force = options.force}, to == AllocationForm::kBitmaps);
  }
  if (auto filled = Fill(work); !filled) return tl::unexpected(filled.error());
  report.changed = true;
  return note({.form = to, .removing = true});
}

/// Returns why the store cannot change to the form.
std::optional<base::Error> FormSwitch::FindObjection(const Work& work, AllocationForm to,
                                                     const state::Snapshot& snapshot) const {
  if (const auto shared = FindSharedValues(services_, snapshot); shared.total > 0) {
    return SharedBy(shared);
  }
  if (to != AllocationForm::kBitmaps) return std::nullopt;
  FormBlockers& left_out = work.report.left_out;
  left_out =
      FindFormBlockers(rows_, services_, BitmapWorldOf(rows_, parts_.gates, snapshot), snapshot);
  const bool begun = work.note.form == Towards(to);
  const bool force = begun ? work.note.force : work.options.force;
  if (left_out.total == 0 || (force && !left_out.for_ever)) return std::nullopt;
  return BlockedBy(left_out);
}

bool FormSwitch::Tell(const Work& work, const Step& step) const {
  return !work.options.progress || work.options.progress(step);
}

/// Writes the note, if it is unchanged since the step began.
base::Result<void> FormSwitch::PutNote(const Work& work, const FormNote& next, bool with_bitmaps) {
  commit::Write write{.key = kFormKey};
  write.transform = [this, &work, next, with_bitmaps](const state::Snapshot&,
                                                      const state::ObjectPtr& current) -> Decided {
    if (state::RevisionOf(current) != work.revision) {
      return tl::unexpected(commit::Refusal(ChangedMeanwhile()));
    }
    commit::Decision decision = PutOf(*rows_.fences, FormObject(next, parts_.clock.Now()));
    if (with_bitmaps) {
      // No range that bitmaps have no room for may have been created since they were checked.
      if (FencesIn(*parts_.follower.Current()) != work.fences) {
        return tl::unexpected(commit::Refusal(ChangedMeanwhile()));
      }
      for (const PoolId pool : alloc::kAllPools) {
        decision.compares.push_back({.key = FenceKey(pool), .revision = work.fences[pool]});
      }
      const auto world = BitmapWorldOf(rows_, parts_.gates, *parts_.follower.Current());
      for (const auto& bitmap : world.bitmaps) {
        if (bitmap) decision.puts.push_back(EmptyBitmap(*bitmap));
      }
    }
    return decision;
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  return {};
}

// Filling.

/// Returns whether the new form lacks the value. A value that has no place in the new form is not
/// lacking.
bool FormSwitch::Lacks(const Work& work, const state::Snapshot& snapshot,
                       const PoolValue& value) const {
  if (work.note.form == AllocationForm::kToRecords) {
    return snapshot.Find(RecordKey(rows_, value)) == nullptr;
  }
  const auto form = parts_.ledger.Form();
  if (form.bitmaps == nullptr) return true;
  const auto& bitmap = (*form.bitmaps)[value.pool];
  const auto bit = bitmap ? bitmap->layout.BitOf(value.value) : std::nullopt;
  if (!bit) return false;
  const auto found = snapshot.Find(KeyOf(bitmap->id));
  return found == nullptr || !IsBitSet(ViewOf(*found).data, *bit);
}

base::Result<void> FormSwitch::Fill(const Work& work) {
  for (int rounds = 0; rounds < kMaxRounds; ++rounds) {
    if (auto there = EnsureBitmaps(work); !there) return there;
    const state::SnapshotPtr snapshot = parts_.follower.Current();
    std::vector<std::vector<std::string>> batches;
    size_t weight = kValuesAtOnce;
    uint64_t services = 0;
    EachHoldingService(services_, *snapshot, [&](const HoldingService& service) {
      size_t lacking = 0;
      for (const PoolValue& value : service.values) lacking += Lacks(work, *snapshot, value);
      if (lacking == 0) return;
      ++services;
      if (weight + lacking > kValuesAtOnce) {
        batches.emplace_back();
        weight = 0;
      }
      weight += lacking;
      batches.back().push_back(service.object.Key());
    });
    if (batches.empty()) return Check(work, *snapshot);
    uint64_t done = 0;
    for (const auto& batch : batches) {
      if (auto written = RunBatch(work, "filling", batch); !written) return written;
      done += batch.size();
      if (!Tell(work, {.phase = "filling", .done = done, .total = services})) {
        return base::Fail(Reason::kServiceUnavailable, kStopped);
      }
    }
  }
  return base::Fail(Reason::kConflict, "the new form of allocations does not become complete");
}

/// Makes bitmaps again that were deleted meanwhile.
base::Result<void> FormSwitch::EnsureBitmaps(const Work& work) {
  if (work.note.form != AllocationForm::kToBitmaps) return {};
  const auto world = BitmapWorldOf(rows_, parts_.gates, *parts_.follower.Current());
  for (const auto& bitmap : world.bitmaps) {
    if (!bitmap) continue;
    const commit::ExtraPut empty = EmptyBitmap(*bitmap);
    if (parts_.follower.Current()->Find(empty.key) != nullptr) continue;
    commit::Write write{.key = empty.key};
    write.transform = [&](const state::Snapshot&, const state::ObjectPtr& current) -> Decided {
      if (current != nullptr) return commit::Decision{};
      return commit::Decision{.kind = commit::Decision::Kind::kPut,
                              .stored = empty.stored,
                              .wire = empty.wire,
                              .compares = {{.key = kFormKey, .revision = work.revision}}};
    };
    if (const auto written = parts_.run(std::move(write)); !written) {
      return tl::unexpected(written.error());
    }
  }
  return {};
}

/// Checks that no value is held by two Services, and that the new form has no value that no Service
/// holds. Such a value would come from a write that kept both forms, so it would be an error.
base::Result<void> FormSwitch::Check(const Work& work, const state::Snapshot& snapshot) {
  if (!Tell(work, {.phase = "checking"})) return base::Fail(Reason::kServiceUnavailable, kStopped);
  if (const auto shared = FindSharedValues(services_, snapshot); shared.total > 0) {
    return tl::unexpected(SharedBy(shared));
  }
  alloc::PerPool<absl::flat_hash_set<alloc::U128, alloc::ValueHash>> held;
  EachHoldingService(services_, snapshot, [&held](const HoldingService& service) {
    for (const PoolValue& value : service.values) {
      held[value.pool].insert(value.value);
    }
  });
  const auto nobodys = [](const std::string& what) {
    return base::Fail(Reason::kInternalError,
                      fmt::format("the new form of allocations has {}, which no Service holds; the "
                                  "old one stays in force",
                                  what));
  };
  if (work.note.form == AllocationForm::kToRecords) {
    for (const registry::Row* row : {rows_.ip_addresses, rows_.node_ports}) {
      for (auto at = snapshot.Seek(row->prefix); at.Valid(); at.Next()) {
        const auto info = ReadRecord(rows_, *at.Get());
        if (!info || held[info->value.pool].contains(info->value.value)) {
          continue;
        }
        return nobodys(RecordName(info->value));
      }
    }
    return {};
  }
  const auto form = parts_.ledger.Form();
  if (form.bitmaps == nullptr) return {};
  for (const PoolId pool : alloc::kAllPools) {
    const auto& bitmap = (*form.bitmaps)[pool];
    const auto found = bitmap ? snapshot.Find(KeyOf(bitmap->id)) : nullptr;
    if (found == nullptr) continue;
    const auto bits = CompareBitmaps(bitmap->layout, {}, ViewOf(*found).data);
    for (const alloc::U128 value : bits.taken) {
      if (!held[pool].contains(value)) return nobodys(RecordName({.pool = pool, .value = value}));
    }
  }
  return {};
}

// Writing in batches.

base::Result<void> FormSwitch::RunBatch(const Work& work, std::string_view phase,
                                        const std::vector<std::string>& keys) {
  commit::Write write{.key = lease_.Key()};
  write.transform = [this, &work, phase, &keys](const state::Snapshot&,
                                                const state::ObjectPtr& lease) {
    return Decide(work, phase, keys, lease);
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  return {};
}

FormSwitch::Decided FormSwitch::Decide(const Work& work, std::string_view phase,
                                       const std::vector<std::string>& keys,
                                       const state::ObjectPtr& lease) {
  const state::SnapshotPtr snapshot = parts_.follower.Current();
  if (state::RevisionOf(snapshot->Find(kFormKey)) != work.revision ||
      parts_.ledger.Form().revision != work.revision) {
    return tl::unexpected(commit::Refusal(ChangedMeanwhile()));
  }
  const uint64_t done = work.report.filled + work.report.removed;
  commit::Decision decision = lease_.Put(lease,
                                         {.phase = std::string(phase),
                                          .done = static_cast<int64_t>(done),
                                          .since = parts_.clock.Now()},
                                         base::NewUuid(random_));
  decision.compares.push_back({.key = kFormKey, .revision = work.revision});
  uint64_t* count = &work.report.filled;
  size_t changes = 0;
  if (work.note.removing) {
    count = &work.report.removed;
    for (const std::string& key : keys) {
      const auto found = snapshot->Find(key);
      if (found) decision.deletes.push_back({.key = key, .expected = found->Revision()});
    }
  } else if (work.note.form == AllocationForm::kToRecords) {
    AddRecords(work, *snapshot, keys, decision);
  } else {
    changes = AddBits(work, *snapshot, keys, decision);
  }
  changes += decision.puts.size() + decision.deletes.size();
  if (changes == 0) return commit::Decision{};
  decision.on_outcome = [count, changes](bool committed) {
    if (committed) *count += changes;
  };
  return decision;
}

/// Adds the bits that the Services lack and returns their number.
size_t FormSwitch::AddBits(const Work& work, const state::Snapshot& snapshot,
                           const std::vector<std::string>& keys, commit::Decision& decision) const {
  alloc::PerPool<BitmapChange> changes;
  for (const std::string& key : keys) {
    const auto found = snapshot.Find(key);
    const auto service = found ? registry::DecodeWithoutManagedFields(services_, *found)
                               : base::Result<codec::Value>(base::Fail(Reason::kNotFound, ""));
    if (!service) continue;
    bool any = false;
    for (const PoolValue& value : ValuesOf(rules::HoldingsOf(*service))) {
      std::vector<alloc::U128>& takes = changes[value.pool].takes;
      const bool twice = std::find(takes.begin(), takes.end(), value.value) != takes.end();
      if (twice || !Lacks(work, snapshot, value)) continue;
      takes.push_back(value.value);
      any = true;
    }
    if (any) decision.compares.push_back({.key = key, .revision = found->Revision()});
  }
  const auto form = parts_.ledger.Form();
  if (form.bitmaps == nullptr) return 0;
  size_t bits = 0;
  for (const PoolId pool : alloc::kAllPools) {
    const auto& bitmap = (*form.bitmaps)[pool];
    BitmapChange& change = changes[pool];
    if (!bitmap || change.takes.empty()) continue;
    bits += change.takes.size();
    decision.shared.push_back(BitmapPut(bitmap->id, bitmap->layout, std::move(change)));
  }
  return bits;
}

void FormSwitch::AddRecords(const Work&, const state::Snapshot& snapshot,
                            const std::vector<std::string>& keys, commit::Decision& decision) {
  for (const std::string& key : keys) {
    const auto found = snapshot.Find(key);
    const auto service = found ? registry::DecodeWithoutManagedFields(services_, *found)
                               : base::Result<codec::Value>(base::Fail(Reason::kNotFound, ""));
    if (!service) continue;
    const size_t before = decision.puts.size();
    AddRecordsOf(snapshot, *service, decision);
    if (decision.puts.size() == before) continue;
    decision.compares.push_back({.key = key, .revision = found->Revision()});
  }
}

void FormSwitch::AddRecordsOf(const state::Snapshot& snapshot, const codec::Value& service,
                              commit::Decision& decision) {
  const Owner owner{.name_space = codec::StringAt(service, "metadata", "namespace"),
                    .name = codec::StringAt(service, "metadata", "name"),
                    .uid = codec::StringAt(service, "metadata", "uid")};
  for (RecordFacts& facts : FactsOfHeld(service)) {
    const std::string key = RecordKey(rows_, facts.value);
    const bool put_already = std::ranges::any_of(
        decision.puts, [&key](const commit::ExtraPut& put) { return put.key == key; });
    // Two Services may have the value since the check.
    if (put_already || snapshot.Find(key) != nullptr) continue;
    AddRange(LedgerView(parts_.ledger).RangeWith(facts.value), facts);
    decision.puts.push_back(
        NewRecord(rows_, owner, facts, base::NewUuid(random_), parts_.clock.Now()));
  }
}

// Removing.

base::Result<void> FormSwitch::Remove(const Work& work) {
  const state::SnapshotPtr snapshot = parts_.follower.Current();
  std::vector<std::string> keys;
  if (work.note.form == AllocationForm::kRecords) {
    for (auto at = snapshot->Seek(rows_.bitmaps->prefix); at.Valid(); at.Next()) {
      keys.push_back(at.Get()->Key());
    }
  } else {
    for (const registry::Row* row : {rows_.ip_addresses, rows_.node_ports}) {
      for (auto at = snapshot->Seek(row->prefix); at.Valid(); at.Next()) {
        keys.push_back(at.Get()->Key());
      }
    }
  }
  for (size_t begin = 0; begin < keys.size(); begin += kRecordsAtOnce) {
    const size_t end = std::min(keys.size(), begin + kRecordsAtOnce);
    const std::vector<std::string> batch(keys.begin() + static_cast<ptrdiff_t>(begin),
                                         keys.begin() + static_cast<ptrdiff_t>(end));
    if (auto written = RunBatch(work, "removing", batch); !written) return written;
    if (!Tell(work, {.phase = "removing", .done = end, .total = keys.size()})) {
      return base::Fail(Reason::kServiceUnavailable, kStopped);
    }
  }
  return PutNote(work, {.form = work.note.form, .force = work.note.force}, false);
}

}  // namespace berth::allocation
