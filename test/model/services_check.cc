// Checks for each answer.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/services_run.h"

namespace berth::model {
namespace {

using commit::Written;

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
      if (says("would be outside of every range")) return kBlocked;
      return says("kept in bitmaps") || says("being moved to") || says("it is the primary range")
                 ? kRefused
                 : kConflict;
    case base::Reason::kInvalid:
      if (says("already allocated")) return kTaken;
      if (says("would be outside of every range")) return kBlocked;
      if (says(" is reserved")) return kReserved;
      if (says("which is disabled") || says("is excluded from the range")) return kNotGiven;
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

Service ServiceOf(const registry::Target& target, const state::Object& object) {
  const auto value = registry::Registry::Decode(*target.served.row, object);
  return value ? FromValue(*value) : Service();
}

}  // namespace

void Run::OnAnswer(const OpenPtr& open, const Answer& answer) {
  std::erase(open_, open);
  OnExpired();  // The server may have seen an expiry.
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
  if (open.shaken && (got == kStore || got == kUnknown)) return;
  if ((got == kStore) != open.failed) {
    return Fail((open.failed ? "its commit failed, and it is told " + ClassesText(got)
                             : "told that the store failed, which it did not") +
                about);
  }
  if (got == kStore) return;
  if (got == kUnknown) {
    // The outcome for an address is not resolved if a Service asks for it at the same time.
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
  std::string wrong;
  for (size_t i = open.floor; i < worlds_.size(); ++i) {
    for (const Settings& settings : SettingsOf(open, *worlds_[i])) {
      wrong = CheckIn(*worlds_[i], settings, open, answer, got);
      if (!wrong.empty()) continue;
      if (i + 1 != worlds_.size()) ++seen_.overlapping;
      return;
    }
  }
  Fail(fmt::format("told {} {}, but {} ({})", ClassesText(got),
                   answer ? "" : answer.error().message, wrong, ToText(open.request)));
}

std::string Run::CheckIn(const World& world, const Settings& settings, const Open& open,
                         const Answer& answer, Classes got) const {
  const Verdict verdict = Judge(world, open.request, settings);
  const bool by_another = got == kOk && open.unknown && !open.request.dry_run;
  if ((verdict.classes & got) == 0 && !by_another) {
    return "it had to be " + ClassesText(verdict.classes);
  }
  return got == kOk ? CheckForeseen(open, *answer, verdict, settings, world) : "";
}

/// Checks the case that two servers were asked for the same change and one made it. The other one,
/// whose reply was lost, cannot tell which of them did.
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
                               const Verdict& verdict, const Settings& settings,
                               const World& world) const {
  const Written& written = outcome.written;
  const bool unchanged = written.kind == Written::Kind::kUnchanged;
  if (!open.request.dry_run && !unchanged) {
    return open.unknown ? CheckDoneByAnother(open, written, world) : "nothing was committed";
  }
  if (open.request.IsAboutRange() && unchanged) {
    return verdict.ranges == world.cluster->ToSpecs() ? "" : "it had to change";
  }
  if (!open.request.IsAboutService() || verdict.unsure) return "";
  const StoredService* stored = world.Find(open.request.name);
  if (unchanged) {
    const bool same = stored != nullptr && verdict.next == stored->service;
    return same ? "" : "it had to change";
  }
  if (!verdict.next) return written.kind == Written::Kind::kDeleted ? "" : "it had to go";
  return CheckExpected(*verdict.next, ServiceOf(TargetOf(open.request), *written.object),
                       open.request.name, world, settings);
}

}  // namespace berth::model
