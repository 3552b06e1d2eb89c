#include "controllers/form_switch.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "alloc/bitmap_change.h"
#include "alloc/value_set.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "commit/bitmaps.h"
#include "registry/fences.h"

namespace berth::controllers {
namespace {

using alloc::PoolId;
using base::Reason;
using commit::AllocationForm;
using commit::PoolValue;
using registry::FormNote;

/// As many as fit into a transaction of every engine.
constexpr size_t kValuesAtOnce = 40;
constexpr size_t kRecordsAtOnce = 100;
/// A round more is needed only if somebody takes a bitmap away meanwhile.
constexpr int kMaxRounds = 20;
constexpr int kMaxSteps = 100;

/// Nobody who ends waits longer for a store that does not answer.
constexpr std::chrono::seconds kWriteLimit{10};

constexpr const char* kStopped = "stopped before the end; what is missing is done another time";

AllocationForm Origin(AllocationForm form) {
  return form == AllocationForm::kToBitmaps ? AllocationForm::kRecords : AllocationForm::kBitmaps;
}

AllocationForm Other(AllocationForm form) {
  return form == AllocationForm::kRecords ? AllocationForm::kBitmaps : AllocationForm::kRecords;
}

AllocationForm Towards(AllocationForm form) {
  return form == AllocationForm::kRecords ? AllocationForm::kToRecords : AllocationForm::kToBitmaps;
}

int64_t RevisionOf(const state::ObjectPtr& object) { return object ? object->Revision() : 0; }

std::array<int64_t, alloc::kPools> FencesIn(const state::Snapshot& picture) {
  std::array<int64_t, alloc::kPools> fences{};
  for (size_t i = 0; i < alloc::kPools; ++i) {
    fences[i] = RevisionOf(picture.Find(registry::FenceKey(static_cast<PoolId>(i))));
  }
  return fences;
}

base::Error ChangedMeanwhile() {
  return {.reason = Reason::kConflict, .message = "somebody else works on the form of allocations"};
}

commit::Decision PutOf(const registry::Row& row, const codec::Value& object) {
  return {.kind = commit::Decision::Kind::kPut,
          .stored = registry::ToStored(row, object),
          .wire = registry::ToWireText(row, object)};
}

std::string_view BitmapKeyOf(alloc::BitmapId id) {
  return commit::kBitmaps[static_cast<size_t>(id)].key;
}

commit::ExtraPut EmptyBitmap(const alloc::PoolBitmap& bitmap) {
  commit::ExtraPut put{.key = std::string(BitmapKeyOf(bitmap.id)),
                       .stored = commit::StoredBitmap({.range = bitmap.form.range(), .data = {}})};
  if (auto wire = commit::BitmapToWire(put.stored)) put.wire = *std::move(wire);
  return put;
}

base::Error BlockedBy(const FormBlockers& blockers) {
  return {.reason = Reason::kConflict,
          .message = fmt::format("bitmaps have no room for all that there is: {}{}",
                                 FormBlockersText(blockers),
                                 blockers.for_ever ? "" : "; --force leaves that out")};
}

}  // namespace

RunWrite WaitFor(commit::Sequencer& sequencer) {
  return [&sequencer](commit::Write write) {
    const auto answer = std::make_shared<std::promise<base::Result<commit::Written>>>();
    write.deadline = sequencer.GetFollower().Clock().Steady() + kWriteLimit;
    sequencer.Submit(std::move(write), [answer](base::Result<commit::Written> written) {
      answer->set_value(std::move(written));
    });
    return answer->get_future().get();
  };
}

FormSwitch::FormSwitch(Parts parts, const base::SeededRandom& random)
    : parts_(std::move(parts)),
      rows_(registry::RecordRowsOf(parts_.registry.GetKinds())),
      services_(*parts_.registry.GetKinds().FindRow(api::kServiceKind)),
      lease_(parts_.registry, "berth-allocation-switch"),
      random_(random) {}

base::WallTime FormSwitch::LastHeardOf(const state::Snapshot& picture) const {
  const auto note = picture.Find(registry::kFormKey);
  const base::WallTime noted = note ? registry::SinceOf(rows_, *note) : base::WallTime();
  const auto progress = lease_.In(picture);
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
  std::optional<base::Error> verdict;  // Why it is taken back.
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

/// One step; whether there is nothing left to do.
base::Result<bool> FormSwitch::Next(const Options& options, Report& report,
                                    std::optional<base::Error>& verdict) {
  const state::SnapshotPtr picture = parts_.follower.Current();
  const Work work{.note = registry::FormIn(rows_, *picture),
                  .revision = RevisionOf(picture->Find(registry::kFormKey)),
                  .fences = FencesIn(*picture),
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
  if (to == AllocationForm::kBitmaps) {
    report.left_out = FindFormBlockers(
        rows_, services_, BitmapWorldOf(rows_, parts_.registry.GetGates(), *picture), *picture);
    const bool force = begun ? work.note.force : options.force;
    if (report.left_out.total > 0 && (!force || report.left_out.for_ever)) {
      if (!begun) return tl::unexpected(BlockedBy(report.left_out));
      verdict = BlockedBy(report.left_out);
      return note({.form = AllocationForm::kRecords, .removing = true});
    }
  }
  if (!begun) {
    return note({.form = Towards(to), .force = options.force}, to == AllocationForm::kBitmaps);
  }
  if (auto filled = Fill(work); !filled) return tl::unexpected(filled.error());
  report.changed = true;
  return note({.form = to, .removing = true});
}

bool FormSwitch::Tell(const Work& work, const Step& step) const {
  return !work.options.progress || work.options.progress(step);
}

/// Writes the note, if it is still the one that the step began with.
base::Result<void> FormSwitch::PutNote(const Work& work, const FormNote& next, bool with_bitmaps) {
  commit::Write write{.key = registry::kFormKey};
  write.transform = [this, &work, next, with_bitmaps](const state::ObjectPtr& current) -> Decided {
    if (RevisionOf(current) != work.revision) {
      return tl::unexpected(commit::Refusal(ChangedMeanwhile()));
    }
    commit::Decision decision =
        PutOf(*rows_.fences, registry::FormObject(next, parts_.clock.Now()));
    if (with_bitmaps) {
      // Ranges that bitmaps have no room for must not have come since they were looked for.
      if (FencesIn(*parts_.follower.Current()) != work.fences) {
        return tl::unexpected(commit::Refusal(ChangedMeanwhile()));
      }
      for (size_t i = 0; i < alloc::kPools; ++i) {
        decision.compares.push_back(
            {.key = registry::FenceKey(static_cast<PoolId>(i)), .revision = work.fences[i]});
      }
      const auto world =
          BitmapWorldOf(rows_, parts_.registry.GetGates(), *parts_.follower.Current());
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

/// Whether the form that the switch leads to does not say that the value is taken. What has no
/// place in it is not lacking.
bool FormSwitch::Lacks(const Work& work, const state::Snapshot& picture,
                       const PoolValue& value) const {
  if (work.note.form == AllocationForm::kToRecords) {
    return picture.Find(registry::RecordKey(rows_, value)) == nullptr;
  }
  const auto form = parts_.allocations.Form();
  if (form.bitmaps == nullptr) return true;
  const auto& bitmap = (*form.bitmaps)[static_cast<size_t>(value.pool)];
  const auto bit = bitmap ? bitmap->form.BitOf(value.value) : std::nullopt;
  if (!bit) return false;
  const auto found = picture.Find(std::string(BitmapKeyOf(bitmap->id)));
  return found == nullptr || !alloc::IsBitSet(commit::ViewOf(*found).data, *bit);
}

base::Result<void> FormSwitch::Fill(const Work& work) {
  for (int rounds = 0; rounds < kMaxRounds; ++rounds) {
    if (auto there = EnsureBitmaps(work); !there) return there;
    const state::SnapshotPtr picture = parts_.follower.Current();
    std::vector<std::vector<std::string>> batches;
    size_t weight = kValuesAtOnce;
    uint64_t services = 0;
    EachHoldingService(services_, *picture, [&](const HoldingService& service) {
      size_t lacking = 0;
      for (const PoolValue& value : service.values) lacking += Lacks(work, *picture, value);
      if (lacking == 0) return;
      ++services;
      if (weight + lacking > kValuesAtOnce) {
        batches.emplace_back();
        weight = 0;
      }
      weight += lacking;
      batches.back().push_back(service.object.Key());
    });
    if (batches.empty()) return Check(work, *picture);
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

/// Somebody may have deleted one.
base::Result<void> FormSwitch::EnsureBitmaps(const Work& work) {
  if (work.note.form != AllocationForm::kToBitmaps) return {};
  const auto world = BitmapWorldOf(rows_, parts_.registry.GetGates(), *parts_.follower.Current());
  for (const auto& bitmap : world.bitmaps) {
    if (!bitmap) continue;
    const commit::ExtraPut empty = EmptyBitmap(*bitmap);
    if (parts_.follower.Current()->Find(empty.key) != nullptr) continue;
    commit::Write write{.key = empty.key};
    write.transform = [&](const state::ObjectPtr& current) -> Decided {
      if (current != nullptr) return commit::Decision{};
      return commit::Decision{.kind = commit::Decision::Kind::kPut,
                              .stored = empty.stored,
                              .wire = empty.wire,
                              .compares = {{.key = registry::kFormKey, .revision = work.revision}}};
    };
    if (const auto written = parts_.run(std::move(write)); !written) {
      return tl::unexpected(written.error());
    }
  }
  return {};
}

/// Nothing may be in the new form that no Service holds: who wrote both forms has written that.
base::Result<void> FormSwitch::Check(const Work& work, const state::Snapshot& picture) {
  if (!Tell(work, {.phase = "checking"})) return base::Fail(Reason::kServiceUnavailable, kStopped);
  std::array<absl::flat_hash_set<alloc::U128, alloc::ValueHash>, alloc::kPools> held;
  EachHoldingService(services_, picture, [&held](const HoldingService& service) {
    for (const PoolValue& value : service.values) {
      held[static_cast<size_t>(value.pool)].insert(value.value);
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
      for (auto at = picture.Seek(row->prefix); at.Valid(); at.Next()) {
        const auto info = registry::ReadRecord(rows_, *at.Get());
        if (!info || held[static_cast<size_t>(info->value.pool)].contains(info->value.value)) {
          continue;
        }
        return nobodys(registry::RecordName(info->value));
      }
    }
    return {};
  }
  const auto form = parts_.allocations.Form();
  for (size_t i = 0; form.bitmaps != nullptr && i < alloc::kPools; ++i) {
    const auto& bitmap = (*form.bitmaps)[i];
    const auto found = bitmap ? picture.Find(std::string(BitmapKeyOf(bitmap->id))) : nullptr;
    if (found == nullptr) continue;
    const auto bits = alloc::CompareBitmaps(bitmap->form, {}, commit::ViewOf(*found).data);
    for (const alloc::U128 value : bits.taken) {
      if (!held[i].contains(value)) {
        return nobodys(registry::RecordName({.pool = static_cast<PoolId>(i), .value = value}));
      }
    }
  }
  return {};
}

// Writing some at a time.

base::Result<void> FormSwitch::RunBatch(const Work& work, std::string_view phase,
                                        const std::vector<std::string>& keys) {
  commit::Write write{.key = lease_.Key()};
  write.transform = [this, &work, phase, &keys](const state::ObjectPtr& lease) {
    return Decide(work, phase, keys, lease);
  };
  const auto written = parts_.run(std::move(write));
  if (!written) return tl::unexpected(written.error());
  return {};
}

FormSwitch::Decided FormSwitch::Decide(const Work& work, std::string_view phase,
                                       const std::vector<std::string>& keys,
                                       const state::ObjectPtr& lease) {
  const state::SnapshotPtr picture = parts_.follower.Current();
  if (RevisionOf(picture->Find(registry::kFormKey)) != work.revision ||
      parts_.allocations.Form().revision != work.revision) {
    return tl::unexpected(commit::Refusal(ChangedMeanwhile()));
  }
  const uint64_t done = work.report.filled + work.report.removed;
  commit::Decision decision = lease_.Put(lease,
                                         {.phase = std::string(phase),
                                          .done = static_cast<int64_t>(done),
                                          .since = parts_.clock.Now()},
                                         base::NewUuid(random_));
  decision.compares.push_back({.key = registry::kFormKey, .revision = work.revision});
  uint64_t* count = &work.report.filled;
  size_t changes = 0;
  if (work.note.removing) {
    count = &work.report.removed;
    for (const std::string& key : keys) {
      const auto found = picture->Find(key);
      if (found) decision.deletes.push_back({.key = key, .expected = found->Revision()});
    }
  } else if (work.note.form == AllocationForm::kToRecords) {
    AddRecords(work, *picture, keys, decision);
  } else {
    changes = AddBits(work, *picture, keys, decision);
  }
  changes += decision.puts.size() + decision.deletes.size();
  if (changes == 0) return commit::Decision{};
  decision.settle = [count, changes](bool committed) {
    if (committed) *count += changes;
  };
  return decision;
}

/// How many.
size_t FormSwitch::AddBits(const Work& work, const state::Snapshot& picture,
                           const std::vector<std::string>& keys, commit::Decision& decision) const {
  std::array<alloc::BitmapChange, alloc::kPools> changes;
  for (const std::string& key : keys) {
    const auto found = picture.Find(key);
    const auto service = found ? registry::DecodeWithoutManagedFields(services_, *found)
                               : base::Result<codec::Value>(base::Fail(Reason::kNotFound, ""));
    if (!service) continue;
    bool any = false;
    for (const PoolValue& value : ValuesOf(*service)) {
      std::vector<alloc::U128>& takes = changes[static_cast<size_t>(value.pool)].takes;
      const bool twice = std::find(takes.begin(), takes.end(), value.value) != takes.end();
      if (twice || !Lacks(work, picture, value)) continue;
      takes.push_back(value.value);
      any = true;
    }
    if (any) decision.compares.push_back({.key = key, .revision = found->Revision()});
  }
  const auto form = parts_.allocations.Form();
  size_t bits = 0;
  for (size_t i = 0; form.bitmaps != nullptr && i < alloc::kPools; ++i) {
    const auto& bitmap = (*form.bitmaps)[i];
    if (!bitmap || changes[i].takes.empty()) continue;
    bits += changes[i].takes.size();
    decision.shared.push_back(
        commit::BitmapPut(static_cast<int>(bitmap->id), bitmap->form, std::move(changes[i])));
  }
  return bits;
}

void FormSwitch::AddRecords(const Work&, const state::Snapshot& picture,
                            const std::vector<std::string>& keys, commit::Decision& decision) {
  for (const std::string& key : keys) {
    const auto found = picture.Find(key);
    const auto service = found ? registry::DecodeWithoutManagedFields(services_, *found)
                               : base::Result<codec::Value>(base::Fail(Reason::kNotFound, ""));
    if (!service) continue;
    const size_t before = decision.puts.size();
    AddRecordsOf(picture, *service, decision);
    if (decision.puts.size() == before) continue;
    decision.compares.push_back({.key = key, .revision = found->Revision()});
  }
}

void FormSwitch::AddRecordsOf(const state::Snapshot& picture, const codec::Value& service,
                              commit::Decision& decision) {
  const registry::Owner owner{.name_space = codec::StringAt(service, "metadata", "namespace"),
                              .name = codec::StringAt(service, "metadata", "name"),
                              .uid = codec::StringAt(service, "metadata", "uid")};
  const auto add = [&](registry::RecordFacts facts) {
    const std::string key = registry::RecordKey(rows_, facts.value);
    if (picture.Find(key) != nullptr) return;
    for (const commit::ExtraPut& put : decision.puts) {
      if (put.key == key) return;  // Two Services have it, and one of them gets the record.
    }
    facts.chosen = LikelyChosen(facts.value);
    decision.puts.push_back(
        registry::NewRecord(rows_, owner, facts, base::NewUuid(random_), parts_.clock.Now()));
  };
  for (const ip::Addr& address : rules::HoldingsOf(service).addresses) {
    add({.value = {.pool = commit::PoolOf(address.family()), .value = address.bits()}});
  }
  for (const rules::PortPurpose& purpose : rules::PurposesOf(service)) {
    add({.value = {.pool = PoolId::kPorts, .value = purpose.number},
         .health_check = purpose.IsHealthCheck(),
         .ports = registry::PortUses(service, purpose.ports)});
  }
}

/// Bitmaps do not say it; the bands are for those who ask for a value, and for those who do not.
registry::Chosen FormSwitch::LikelyChosen(const PoolValue& value) const {
  const auto range = parts_.allocations.RangeWith(value);
  const bool in_static = range && range->static_band && range->static_band->Contains(value.value);
  return in_static ? registry::Chosen::kStatic : registry::Chosen::kDynamic;
}

// Removing.

base::Result<void> FormSwitch::Remove(const Work& work) {
  const state::SnapshotPtr picture = parts_.follower.Current();
  std::vector<std::string> keys;
  if (work.note.form == AllocationForm::kRecords) {
    for (auto at = picture->Seek(rows_.bitmaps->prefix); at.Valid(); at.Next()) {
      keys.push_back(at.Get()->Key());
    }
  } else {
    for (const registry::Row* row : {rows_.ip_addresses, rows_.node_ports}) {
      for (auto at = picture->Seek(row->prefix); at.Valid(); at.Next()) {
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

}  // namespace berth::controllers
