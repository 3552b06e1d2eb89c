// What must hold when something was committed, and when a request is answered.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/services_run.h"

namespace berth::model {
namespace {

using commit::Written;
using Values = std::set<std::string>;

Classes ClassOf(const base::Error& error) {
  const auto says = [&error](std::string_view text) {
    return error.message.find(text) != std::string::npos;
  };
  switch (error.reason) {
    case base::Reason::kAlreadyExists:
      return kExists;
    case base::Reason::kNotFound:
      return kMissing;
    case base::Reason::kConflict:
      return kConflict;
    case base::Reason::kInvalid:
      if (says("already allocated")) return kTaken;
      return says("the valid range") || says("does not match the current range") ? kOutside
                                                                                 : kInvalid;
    case base::Reason::kInternalError:
      if (says("requested HealthCheck NodePort")) return kHealth;
      return says("range is full") ? kFull : kOther;
    case base::Reason::kServiceUnavailable:
      return kStore;
    case base::Reason::kTimeout:
      return kUnknown;
    default:
      return kOther;
  }
}

Values Without(const Values& all, const Values& other) {
  Values left;
  std::ranges::set_difference(all, other, std::inserter(left, left.end()));
  return left;
}

Values HeldBy(const World& world, const std::string& name) {
  const StoredService* stored = world.Find(name);
  return stored == nullptr ? Values() : stored->service.Held();
}

PoolOf PoolOfValue(const std::string& value) {
  if (value.find(':') != std::string::npos) return PoolOf::kIpv6;
  return value.find('.') != std::string::npos ? PoolOf::kIpv4 : PoolOf::kPorts;
}

std::string_view NameIn(const std::string& key) {
  return std::string_view(key).substr(key.rfind('/') + 1);
}

Service ServiceOf(const registry::Target& target, const state::Object& object) {
  const auto value = registry::Registry::Decode(*target.served.row, object);
  return value ? FromValue(*value) : Service();
}

}  // namespace

// Commits.

void Run::OnCommit(Open& open, const std::vector<store::EventPtr>& events) {
  const World& before = Now();
  const auto after = std::make_shared<const World>(Apply(before, events, shared_.kinds));
  const Verdict verdict =
      Judge(before, open.request, cluster_, servers_[open.request.replica]->Gates());
  Log(fmt::format("    #{}: committed @{}", open.request.id, after->revision));
  ++seen_.commits;
  const std::string about = " (" + ToText(open.request) + ")";
  if (open.request.dry_run) return Fail("a dry run was committed" + about);
  if (open.commit != 0) return Fail("committed twice" + about);
  if ((verdict.classes & kOk) == 0) {
    return Fail("committed, where it had to be " + ClassesText(verdict.classes) + about);
  }
  if (open.request.IsAboutService()) {
    CheckServiceCommit(open, verdict, before, *after, events);
  } else {
    CheckAddressCommit(open, before, *after, events);
  }
  const std::string wrong = CheckWorld(*after, cluster_);
  if (!wrong.empty()) Fail(wrong + about);
  open.commit = worlds_.size();
  worlds_.push_back(after);
}

void Run::CheckServiceCommit(const Open& open, const Verdict& verdict, const World& before,
                             const World& after, const std::vector<store::EventPtr>& events) {
  const std::string& name = open.request.name;
  const StoredService* stored = after.Find(name);
  const std::string about = " (" + ToText(open.request) + ")";
  if (!verdict.unsure) {
    if ((stored != nullptr) != verdict.next.has_value()) {
      return Fail((verdict.next ? "it is gone" : "it is still there") + about);
    }
    const std::string wrong =
        stored == nullptr ? "" : CheckExpected(*verdict.next, stored->service, before, cluster_);
    if (!wrong.empty()) return Fail(wrong + about);
  }
  const Values had = HeldBy(before, name);
  const Values has = HeldBy(after, name);
  const Values taken = Without(has, had);
  const Values given = Without(had, has);
  CheckOrder(open.key, taken, given, events);
  CheckTaken(open, verdict, after, taken);
  if (open.request.verb == Verb::kStatus && !taken.empty()) Fail("taken by a status" + about);
  for (const std::string& value : taken) {
    if (before.records.contains(value)) Fail(value + " had a record already" + about);
  }
  seen_.taken += static_cast<int64_t>(taken.size());
  seen_.given_back += static_cast<int64_t>(given.size());
}

/// Records of what is taken, the Service, records of what is given back: nothing else.
void Run::CheckOrder(const std::string& key, const Values& taken, const Values& given,
                     const std::vector<store::EventPtr>& events) {
  Values puts;
  Values deletes;
  bool passed = false;
  for (const store::EventPtr& event : events) {
    if (event->key == key) {
      passed = true;
      continue;
    }
    const bool put = event->type == store::Event::Type::kPut;
    if (put == passed) Fail(event->key + " has its revision on the wrong side of the Service's");
    (put ? puts : deletes).emplace(NameIn(event->key));
  }
  if (!passed) Fail("nothing became of " + key);
  if (puts != taken) Fail(fmt::format("records {} were made, but {} were taken", puts, taken));
  if (deletes != given) {
    Fail(fmt::format("records {} were deleted, but {} were given back", deletes, given));
  }
}

/// Whether each says how it was chosen, and was chosen from the right band.
void Run::CheckTaken(const Open& open, const Verdict& verdict, const World& after,
                     const Values& taken) {
  if (verdict.unsure || !verdict.next) return;
  const Values given = verdict.next->Held();
  for (const std::string& value : taken) {
    const bool is_given = given.contains(value);
    const std::string& chosen = after.records.at(value).chosen;
    if (chosen != (is_given ? "static" : "dynamic")) {
      Fail(fmt::format("{} is recorded as {}", value, chosen));
    }
    const PoolOf pool = PoolOfValue(value);
    const bool health = value == std::to_string(after.Find(open.request.name)->service.health);
    if (pool == PoolOf::kPorts && health != (after.records.at(value).purpose == "HealthCheck")) {
      Fail(fmt::format("{} is recorded as a {}", value, after.records.at(value).purpose));
    }
    const bool band = servers_[open.request.replica]->HasBand(pool);
    if (is_given || !cluster_.At(pool).IsStatic(value, band)) continue;
    ++seen_.spilled;
    const auto takes = std::ranges::count_if(
        taken, [pool](const std::string& one) { return PoolOfValue(one) == pool; });
    if (!MaySpill(open, pool, static_cast<size_t>(takes))) {
      Fail(fmt::format("{} was chosen from the static band ({})", value, ToText(open.request)));
    }
  }
}

/// Whether the dynamic band could have looked full, with what others in flight may have had of it.
bool Run::MaySpill(const Open& open, PoolOf pool, size_t takes) const {
  constexpr size_t kMostPorts = 8;
  const size_t others = open.rivals * (pool == PoolOf::kPorts ? kMostPorts : 1);
  const bool band = servers_[open.request.replica]->HasBand(pool);
  for (size_t i = std::min(open.picture, open.floor); i < worlds_.size(); ++i) {
    const size_t free = worlds_[i]->FreeDynamic(cluster_.At(pool), band);
    if (free < others + takes) return true;
  }
  return false;
}

void Run::CheckAddressCommit(const Open& open, const World& before, const World& after,
                             const std::vector<store::EventPtr>& events) {
  const std::string& value = open.request.name;
  const std::string about = " (" + ToText(open.request) + ")";
  if (events.size() != 1 || events[0]->key != open.key) Fail("more than it was asked" + about);
  const bool there = after.records.contains(value);
  if (there == (open.request.verb == Verb::kUnreserve)) return Fail("not done" + about);
  if (open.request.verb == Verb::kReserve) {
    const Record expected{.name_space = "shop", .name = open.request.parent};
    if (after.records.at(value) != expected) Fail("another record than asked for" + about);
  }
  if (open.request.verb == Verb::kTouch && after.records.at(value) != before.records.at(value)) {
    Fail("the record has changed" + about);
  }
}

// Answers.

void Run::OnAnswer(const OpenPtr& open, const Answer& answer) {
  std::erase(open_, open);
  const bool closed = closing_ && !answer && answer.error() == base::ShuttingDown();
  if (closed) return;
  const Classes got = answer ? kOk : ClassOf(answer.error());
  Log(fmt::format("    #{}: {}{}", open->request.id, ClassesText(got),
                  answer ? "" : ": " + answer.error().message));
  ++seen_.classes[got];
  if (open->request.dry_run) ++seen_.dry_runs;
  CheckAnswer(*open, answer, got);
}

void Run::CheckAnswer(const Open& open, const Answer& answer, Classes got) {
  const std::string about = " (" + ToText(open.request) + ")";
  if ((got == kStore) != open.failed) {
    return Fail((open.failed ? "its commit failed, and it is told " + ClassesText(got)
                             : "told that the store failed, which it did not") +
                about);
  }
  if (got == kStore) return;
  if (got == kUnknown) {
    // An address that a Service asks for at the same time is not followed.
    const bool followed = !lost_past_ && open.request.IsAboutService();
    if (!open.unknown || followed) Fail("there was nothing unknown" + about);
    return;
  }
  if (open.commit != 0) return CheckCommittedAnswer(open, answer, got);
  CheckOtherAnswer(open, answer, got);
}

void Run::CheckCommittedAnswer(const Open& open, const Answer& answer, Classes got) {
  const std::string about = " (" + ToText(open.request) + ")";
  if (got != kOk) return Fail("committed, and told " + ClassesText(got) + about);
  if (answer->written.kind == Written::Kind::kUnchanged) {
    return Fail("committed, and told that nothing changed" + about);
  }
  floor_ = std::max(floor_, open.commit);
  const StoredService* stored = worlds_[open.commit]->Find(open.request.name);
  if (stored == nullptr || !open.request.IsAboutService()) return;
  const Service shown = ServiceOf(TargetOf(open.request), *answer->written.object);
  if (shown != stored->service || answer->written.object->Revision() != stored->revision) {
    Fail(
        fmt::format("told {}, but stored was {}{}", ToText(shown), ToText(stored->service), about));
  }
}

void Run::CheckOtherAnswer(const Open& open, const Answer& answer, Classes got) {
  const registry::Gates& gates = servers_[open.request.replica]->Gates();
  std::string wrong;
  for (size_t i = open.floor; i < worlds_.size(); ++i) {
    const Verdict verdict = Judge(*worlds_[i], open.request, cluster_, gates);
    const bool by_another = got == kOk && open.unknown && !open.request.dry_run;
    if ((verdict.classes & got) == 0 && !by_another) {
      wrong = "it had to be " + ClassesText(verdict.classes);
      continue;
    }
    if (got == kOk) wrong = CheckForeseen(open, *answer, verdict, *worlds_[i]);
    if (got != kOk || wrong.empty()) {
      if (i + 1 != worlds_.size()) ++seen_.overlapping;
      return;
    }
  }
  Fail(fmt::format("told {} {}, but {} ({})", ClassesText(got),
                   answer ? "" : answer.error().message, wrong, ToText(open.request)));
}

/// Two servers were asked for the same, and one did it: the other, whose reply was lost, cannot
/// tell whose it was.
std::string Run::CheckDoneByAnother(const Open& open, const Written& written,
                                    const World& world) const {
  const StoredService* stored = world.Find(open.request.name);
  const bool gone = written.kind == Written::Kind::kDeleted;
  if (gone) return stored == nullptr ? "" : "it is not gone";
  const bool same =
      stored != nullptr && ServiceOf(TargetOf(open.request), *written.object) == stored->service;
  return same ? "" : "nothing was committed";
}

std::string Run::CheckForeseen(const Open& open, const registry::Outcome& outcome,
                               const Verdict& verdict, const World& world) const {
  const Written& written = outcome.written;
  const bool unchanged = written.kind == Written::Kind::kUnchanged;
  if (!open.request.dry_run && !unchanged) {
    return open.unknown ? CheckDoneByAnother(open, written, world) : "nothing was committed";
  }
  if (!open.request.IsAboutService() || verdict.unsure) return "";
  const StoredService* stored = world.Find(open.request.name);
  if (unchanged) {
    const bool same = stored != nullptr && verdict.next == stored->service;
    return same ? "" : "it had to change";
  }
  if (!verdict.next) return written.kind == Written::Kind::kDeleted ? "" : "it had to go";
  return CheckExpected(*verdict.next, ServiceOf(TargetOf(open.request), *written.object), world,
                       cluster_);
}

}  // namespace berth::model
