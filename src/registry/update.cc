// Updates: objects replaced, patched or applied, and made if they are not there and may be.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/go_text.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "merge/managed_fields.h"
#include "registry/deletion.h"
#include "registry/errors.h"
#include "registry/registry.h"
#include "rules/metadata.h"

namespace berth::registry {
namespace {

using codec::Value;

/// Upstream names the resource here, where other such errors name the Kind.
base::Error VersionRequired(const Target& target) {
  rules::FieldErrors errors;
  errors.Invalid(rules::Path("metadata.resourceVersion"), 0, "must be specified for an update");
  base::Error error = errors.ToError(QualifiedResource(target.served.Kind()), target.name);
  error.details = base::Details{.name = target.name,
                                .group = std::string(target.served.Kind().group),
                                .kind = std::string(target.served.Kind().plural)};
  return error;
}

/// As upstream's storage says it.
std::string WrongUid(const std::string& key, std::string_view uid, std::string_view found) {
  return fmt::format(
      "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: "
      "Precondition failed: UID in precondition: {}, UID in object meta: {}",
      key, uid, found);
}

/// Of a replacement the uid is a precondition like the version; a patch that sets another one fails
/// validation.
std::optional<base::Error> CheckUid(const Target& target, const std::string& key, const Value& next,
                                    const Value& current) {
  const std::string_view uid = codec::StringAt(next, "metadata", "uid");
  const std::string_view current_uid = codec::StringAt(current, "metadata", "uid");
  if (uid.empty() || uid == current_uid) return std::nullopt;
  return Conflict(target.served.Kind(), target.name, WrongUid(key, uid, current_uid));
}

/// 0: any.
base::Result<uint64_t> ParseVersion(const Value& object) {
  const std::string_view text = codec::StringAt(object, "metadata", "resourceVersion");
  if (text.empty()) return 0;
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  const bool whole = end == text.data() + text.size();
  if (error == std::errc() && whole) return version;
  const bool too_large = error == std::errc::result_out_of_range && whole;
  return base::Fail(base::Reason::kUnknown,
                    fmt::format("strconv.ParseUint: parsing {}: {}", base::GoQuoted(text),
                                too_large ? "value out of range" : "invalid syntax"));
}

std::optional<base::Error> CheckVersion(const Target& target, const Value& next,
                                        const Value& current) {
  const auto version = ParseVersion(next);
  if (!version) return version.error();
  if (*version == 0 && target.served.row->strategy.needs_version) return VersionRequired(target);
  if (*version != 0 && *version != ParseVersion(current).value_or(0)) {
    return Conflict(target.served.Kind(), target.name, kModified);
  }
  return std::nullopt;
}

/// Nobody can ask for the uid of something new.
std::optional<base::Error> CheckNewUid(const Target& target, Way way, const std::string& key,
                                       const Value& object) {
  const std::string_view uid = codec::StringAt(object, "metadata", "uid");
  if (uid.empty()) return std::nullopt;
  return Conflict(
      target.served.Kind(), target.name,
      way == Way::kApply
          ? fmt::format("uid mismatch: the provided object specified uid {}, and no existing "
                        "object was found",
                        uid)
          : WrongUid(key, uid, ""));
}

}  // namespace

/// An update on its way.
struct Registry::Change {
  Target target;
  UpdateOptions how;
  NextState next;
  CommonOptions options;
  std::optional<base::Error> namespace_error = {};  // As its guard found it.
  commit::Allocations::TicketPtr ticket = {};
  RangeChanges::OperationPtr operation = {};
  bool creates = false;        // There was nothing, or nothing that counts.
  state::ObjectPtr last = {};  // The state it asked for, if nothing was left to keep it.
  std::vector<std::string> warnings = {};

  /// Where a PUT creates, one of the status does too, as upstream.
  bool MayCreate() const {
    if (how.way == Way::kPatch) return false;
    if (how.way == Way::kApply && how.door == Door::kMain) return true;
    return target.served.row->strategy.put_creates;
  }
};

void Registry::Update(Target target, UpdateOptions how, NextState next, CommonOptions options,
                      Done done) {
  auto key = KeyOf(target);
  if (!key) return done(tl::unexpected(NotFound(target.served.Kind(), target.name)));
  commit::Write write;
  write.key = *std::move(key);
  write.dry_run = options.dry_run;
  write.deadline = options.deadline;
  auto change = std::make_shared<Change>(Change{.target = std::move(target),
                                                .how = how,
                                                .next = std::move(next),
                                                .options = std::move(options)});
  if (auto guard = FormGuard(change->target)) write.guards.push_back(*std::move(guard));
  if (change->MayCreate()) {
    if (auto guard = NamespaceGuard(change->target, change->target.name)) {
      // Only if the object has to be made does it matter: what there is can be changed in a
      // namespace that is going away.
      guard->check = [change, check = std::move(guard->check)](const state::ObjectPtr& found) {
        change->namespace_error = check(found);
        return std::optional<base::Error>();
      };
      write.guards.push_back(*std::move(guard));
    }
  }
  write.transform = [this, change](const state::ObjectPtr& current) {
    change->warnings.clear();
    change->last = nullptr;
    const Row& row = *change->target.served.row;
    // A change would keep what has ended for another while.
    change->creates = current == nullptr || HasEnded(row, *current) ||
                      (change->MayCreate() && !IsThere(row, current));
    Decided decision =
        change->creates ? DecideCreateByUpdate(*change) : DecideUpdate(*change, *current);
    if (!decision) AddWarnings(change->warnings, decision.error().error);
    return decision;
  };
  sequencer_.Submit(std::move(write), [this, done = std::move(done),
                                       change](base::Result<commit::Written> written) {
    ranges_.Finish(change->operation);
    if (!written) return done(tl::unexpected(std::move(written.error())));
    if (change->last != nullptr) written->object = change->last;
    if (change->creates) written->kind = commit::Written::Kind::kCreated;
    if (auto advice = ranges_.AdviceOn(change->operation)) {
      change->warnings.push_back(*std::move(advice));
    }
    done(Outcome{.written = *std::move(written), .warnings = std::move(change->warnings)});
  });
}

Registry::Decided Registry::DecideCreateByUpdate(Change& change) {
  const Target& target = change.target;
  if (!change.MayCreate()) return tl::unexpected(NotFound(target.served.Kind(), target.name));
  auto next = change.next(nullptr);
  if (!next) return tl::unexpected(std::move(next.error()));
  change.warnings = std::move(next->warnings);
  Value& object = next->object;
  if (auto error = CheckNewUid(target, change.how.way, KeyOf(target).value_or(""), object)) {
    return tl::unexpected(*std::move(error));
  }
  if (change.namespace_error) return tl::unexpected(*change.namespace_error);
  if (const auto version = ParseVersion(object); !version) return tl::unexpected(version.error());
  rules::PrepareCreatedMetadata(object);
  auto reservation = Reservation::Begin(target.served, object);
  const std::string* manager = change.how.way == Way::kApply ? nullptr : &change.options.manager;
  if (auto error = CompleteNew(target, change.how.door, manager, object, change.warnings)) {
    return tl::unexpected(*std::move(error));
  }
  const Row& row = *target.served.row;
  if (reservation) {
    Decided decision = PutReservation(target, *reservation, object);
    if (decision) AddAdvice(*reservation, object, change.warnings);
    return decision;
  }
  if (!row.strategy.has_addresses) {
    AddAdvice(target, change.how.door, object, change.warnings);
    return WithRanges(target, nullptr, &object, change.options, change.operation,
                      PutDecision(row, object, {}));
  }
  if (change.how.door != Door::kMain) rules::ForgetHoldings(object);
  const auto claims =
      change.how.door == Door::kMain ? rules::ClaimsOf(object, nullptr) : rules::ServiceClaims();
  Decided decision = PutWithAddresses(row, object, nullptr, claims, change.ticket);
  if (decision) AddAdvice(target, change.how.door, object, change.warnings);
  return decision;
}

/// What it asks for, in the stored form, of what there is.
base::Result<Next> Registry::NextOf(const Change& change, const Value& old,
                                    const state::Object& current) {
  const Target& target = change.target;
  const View& view = *target.served.view;
  if (!view.shows_hidden) return change.next(&old);
  Value whole = old;
  target.served.row->strategy.reveal(whole, current.Hidden());
  auto next = change.next(&whole);
  if (!next || view.repeats == nullptr || view.repeats(next->object, whole)) return next;
  base::Error error = ChangedAsStored(target.served, target.name);
  error.warnings = std::move(next->warnings);
  return tl::unexpected(std::move(error));
}

Registry::Decided Registry::DecideUpdate(Change& change, const state::Object& current) {
  const Target& target = change.target;
  const Row& row = *target.served.row;
  const auto old = Decode(row, current);
  if (!old) return tl::unexpected(old.error());
  auto next = NextOf(change, *old, current);
  if (!next) return tl::unexpected(std::move(next.error()));
  change.warnings = std::move(next->warnings);
  Value& object = next->object;
  codec::KeepUnknownFields(*old, object, *row.kind->message);
  if (change.how.way == Way::kReplace) {
    if (auto error = CheckUid(target, current.Key(), object, *old)) {
      return tl::unexpected(*std::move(error));
    }
  }
  if (auto error = CheckVersion(target, object, *old)) return tl::unexpected(*std::move(error));
  if (auto error = CompleteChanged(change, object, *old)) return tl::unexpected(*std::move(error));
  Decided decision = DecideChanged(change, object, *old, current);
  if (decision) AddAdvice(target, change.how.door, object, change.warnings);
  return decision;
}

/// A valid new state is written, unless nothing changed or nothing is left to keep the object.
Registry::Decided Registry::DecideChanged(Change& change, Value& object, const Value& old,
                                          const state::Object& current) {
  const Target& target = change.target;
  const Row& row = *target.served.row;
  if (IsBeingDeleted(object) && !HasFinalizers(row, object)) {
    const std::string key = current.Key();
    if (const auto identity = resources_.Find(key)) {
      change.last = state::Object::Make(*identity, current.Revision(), ToWireText(row, object));
    }
    return WithRanges(target, &old, nullptr, change.options, change.operation,
                      Removal(target, old));
  }
  // Through its status no Service takes or gives anything.
  const bool plans = row.strategy.has_addresses && change.how.door == Door::kMain;
  if (!plans) {
    if (object == old) return commit::Decision{};
    return WithRanges(target, &old, &object, change.options, change.operation,
                      PutDecision(row, object, current.Hidden()));
  }
  const rules::ServiceClaims claims = rules::ClaimsOf(object, &old);
  if (object == old && claims.IsEmpty()) return commit::Decision{};
  return PutWithAddresses(row, object, &old, claims, change.ticket);
}

/// Everything about the new state but whether it may follow the old one's version.
std::optional<base::Error> Registry::CompleteChanged(Change& change, Value& object,
                                                     const Value& old) {
  const Target& target = change.target;
  const Strategy& strategy = target.served.row->strategy;
  const Settings settings = GetSettings();
  const Door door = change.how.door;
  rules::PrepareUpdatedMetadata(object, old);
  codec::SetAt(object, {"metadata", "resourceVersion"},
               codec::StringAt(old, "metadata", "resourceVersion"));
  if (auto warning = rules::DropRepeatedOwners(object)) {
    change.warnings.push_back(*std::move(warning));
  }
  if (strategy.hide != nullptr) strategy.hide(object);  // That is not the client's to say.
  if (strategy.fill != nullptr) strategy.fill(object);
  if (change.how.way != Way::kApply) Track(target, door, change.options.manager, old, object);
  if (strategy.prepare_update != nullptr) strategy.prepare_update(object, old, door, settings);
  if (admit_) {
    if (auto error = admit_(target, door, &old, &object)) return error;
  }
  rules::FieldErrors errors;
  if (strategy.complete != nullptr && door == Door::kMain) {
    errors = strategy.complete(object, &old, settings);
  }
  if (errors.empty()) {
    errors = rules::ValidateUpdatedMetadata(object, old, ScopeOf(*target.served.row));
    if (strategy.validate_update != nullptr) {
      errors.Append(strategy.validate_update(object, old, door, *target.served.view));
    }
  }
  if (!errors.empty()) return InvalidObject(errors, target.served.Kind(), target.name);
  if (strategy.decorate != nullptr) strategy.decorate(object, settings);
  merge::KeepTimesOfNoChange(old, object);
  return std::nullopt;
}

}  // namespace berth::registry
