// Updates: objects are replaced, patched or applied, and created if they do not exist and may be
// created.
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
#include "registry/object_errors.h"
#include "registry/registry.h"
#include "rules/metadata.h"

namespace berth::registry {
namespace {

using codec::Value;

/// Kubernetes names the resource in this error. In other errors of this type it names the Kind.
base::Error VersionRequired(const Target& target) {
  rules::FieldErrors errors;
  errors.Invalid(rules::Path("metadata.resourceVersion"), 0, "must be specified for an update");
  base::Error error = errors.ToError(QualifiedResource(target.served.Kind()), target.name);
  error.details = base::Details{.name = target.name,
                                .group = std::string(target.served.Kind().group),
                                .kind = std::string(target.served.Kind().plural)};
  return error;
}

/// The wording of Kubernetes' storage.
std::string WrongUid(const std::string& key, std::string_view uid, std::string_view found) {
  return fmt::format(
      "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: "
      "Precondition failed: UID in precondition: {}, UID in object meta: {}",
      key, uid, found);
}

/// In a replacement the uid is a precondition like the version. A patch that sets another uid fails
/// validation.
std::optional<base::Error> CheckUid(const Target& target, const std::string& key, const Value& next,
                                    const Value& current) {
  const std::string_view uid = codec::StringAt(next, "metadata", "uid");
  const std::string_view current_uid = codec::StringAt(current, "metadata", "uid");
  if (uid.empty() || uid == current_uid) return std::nullopt;
  return Conflict(target.served.Kind(), target.name, WrongUid(key, uid, current_uid));
}

/// Returns 0 for any version.
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

/// Refuses a uid for a new object: a client cannot choose it.
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

/// An update in progress.
struct Registry::Change {
  Target target;
  UpdateOptions how;
  NextState next;
  CommonOptions options;
  std::optional<base::Error> namespace_error = {};  // As the namespace's guard found it.
  std::shared_ptr<WriteHooks> hooks = {};
  Value object = {};           // The new state, as the last attempt decided it.
  bool creates = false;        // No object existed, or none that counts.
  state::ObjectPtr last = {};  // The state that the update asked for, if it removed the object's
                               // last finalizer.
  std::vector<std::string> warnings = {};

  /// Where a PUT creates, a PUT of the status does too, as in Kubernetes.
  bool MayCreate() const {
    if (how.way == Way::kPatch) return false;
    if (how.way == Way::kApply && how.door == Door::kMain) return true;
    return target.served.row->strategy.put_creates;
  }
};

void Registry::Update(Target target, UpdateOptions how, NextState next, CommonOptions options,
                      Done done) {
  auto key = KeyOf(target);
  if (!key) return done(tl::unexpected(NotFound(target.served, target.name)));
  commit::Write write;
  write.key = *std::move(key);
  write.dry_run = options.dry_run;
  write.deadline = options.deadline;
  auto change = std::make_shared<Change>(Change{.target = std::move(target),
                                                .how = how,
                                                .next = std::move(next),
                                                .options = std::move(options)});
  KindHooks& hooks = hooks_.Of(*change->target.served.row);
  change->hooks = hooks.Begin(change->target, change->options);
  write.guards = hooks.Guards(change->target);
  if (change->MayCreate()) {
    if (auto guard = NamespaceGuard(change->target, change->target.name)) {
      // The namespace matters only if the object has to be created. An existing object can be
      // changed in a namespace that is being deleted.
      guard->check = [change, check = std::move(guard->check)](const state::ObjectPtr& found) {
        change->namespace_error = check(found);
        return std::optional<base::Error>();
      };
      write.guards.push_back(*std::move(guard));
    }
  }
  write.transform = [this, change](const state::Snapshot& snapshot,
                                   const state::ObjectPtr& current) {
    Decided decision = DecideUpdate(*change, snapshot, current);
    if (!decision) AddWarnings(change->warnings, decision.error().error);
    return decision;
  };
  sequencer_.Submit(
      std::move(write), [done = std::move(done), change](base::Result<commit::Written> written) {
        change->hooks->OnAnswer();
        if (!written) return done(tl::unexpected(std::move(written.error())));
        if (change->last != nullptr) written->object = change->last;
        if (change->creates) written->kind = commit::Written::Kind::kCreated;
        AddAdvice(*change->hooks, change->object, change->warnings);
        done(Outcome{.written = *std::move(written), .warnings = std::move(change->warnings)});
      });
}

Registry::Decided Registry::DecideUpdate(Change& change, const state::Snapshot& snapshot,
                                         const state::ObjectPtr& current) {
  change.warnings.clear();
  change.last = nullptr;
  const Row& row = *change.target.served.row;
  // An update of an object whose time is over would keep it for longer.
  change.creates = current == nullptr || HasEnded(row, *current) ||
                   (change.MayCreate() && !Exists(row, current));
  return change.creates ? DecideCreateByUpdate(change, snapshot)
                        : DecideChange(change, snapshot, *current);
}

Registry::Decided Registry::DecideCreateByUpdate(Change& change, const state::Snapshot& snapshot) {
  const Target& target = change.target;
  if (!change.MayCreate()) return tl::unexpected(NotFound(target.served, target.name));
  auto next = change.next(nullptr);
  if (!next) return tl::unexpected(std::move(next.error()));
  change.warnings = std::move(next->warnings);
  Value& object = change.object = std::move(next->object);
  if (auto error = CheckNewUid(target, change.how.way, KeyOf(target).value_or(""), object)) {
    return tl::unexpected(*std::move(error));
  }
  if (change.namespace_error) return tl::unexpected(*change.namespace_error);
  if (const auto version = ParseVersion(object); !version) return tl::unexpected(version.error());
  rules::PrepareCreatedMetadata(object);
  change.hooks->Begin(object);
  const std::string* manager = change.how.way == Way::kApply ? nullptr : &change.options.manager;
  if (auto error = CompleteNew(target, change.how.door, manager, object, change.warnings)) {
    return tl::unexpected(*std::move(error));
  }
  Draft draft{.object = object};
  Decided decision =
      Put(*change.hooks, {.snapshot = snapshot, .target = target, .door = change.how.door}, draft);
  if (decision) AddAdviceOnNew(target, change.how.door, object, change.warnings);
  return decision;
}

/// Returns the state that the update asks for, in the stored form, given the present state.
base::Result<Next> Registry::NextOf(const Change& change, const Value& old,
                                    const state::Object& current) const {
  const Target& target = change.target;
  const View& view = *target.served.view;
  if (!view.shows_hidden) return change.next(&old);
  Value whole = old;
  target.served.row->strategy.reveal(whole, current.Hidden());
  HooksOf(*target.served.row).Refresh(current, whole);
  auto next = change.next(&whole);
  if (!next || view.repeats == nullptr || view.repeats(next->object, whole)) return next;
  base::Error error = ChangedAsStored(target.served, target.name);
  error.warnings = std::move(next->warnings);
  return tl::unexpected(std::move(error));
}

Registry::Decided Registry::DecideChange(Change& change, const state::Snapshot& snapshot,
                                         const state::Object& current) {
  const Target& target = change.target;
  const Row& row = *target.served.row;
  auto old = Decode(row, current);
  if (!old) return tl::unexpected(old.error());
  if (row.strategy.hide == nullptr) HooksOf(row).Refresh(current, *old);
  auto next = NextOf(change, *old, current);
  if (!next) return tl::unexpected(std::move(next.error()));
  change.warnings = std::move(next->warnings);
  Value& object = change.object = std::move(next->object);
  codec::KeepUnknownFields(*old, object, *row.kind->message);
  if (change.how.way == Way::kReplace) {
    if (auto error = CheckUid(target, current.Key(), object, *old)) {
      return tl::unexpected(*std::move(error));
    }
  }
  if (auto error = CheckVersion(target, object, *old)) return tl::unexpected(*std::move(error));
  if (auto error = CompleteChanged(change, object, *old)) return tl::unexpected(*std::move(error));
  Draft draft{.object = object, .old = &*old, .hidden = std::string(current.Hidden())};
  Decided decision = DecideChanged(
      change, {.snapshot = snapshot, .target = target, .door = change.how.door}, draft, current);
  if (decision) AddAdvice(target, change.how.door, object, change.warnings);
  return decision;
}

/// Decides on a valid new state: an object that is being deleted and has no finalizers left is
/// removed, any other is written.
Registry::Decided Registry::DecideChanged(Change& change, const Attempt& attempt, Draft& draft,
                                          const state::Object& current) {
  const Row& row = *attempt.target.served.row;
  if (!IsBeingDeleted(draft.object) || HasFinalizers(row, draft.object)) {
    return Put(*change.hooks, attempt, draft);
  }
  const std::string key = current.Key();  // The identity has views of it.
  if (const auto identity = resources_.Find(key)) {
    change.last = state::Object::Make(*identity, current.Revision(), ToWireText(row, draft.object));
  }
  return Remove(*change.hooks, attempt, *draft.old);
}

/// Completes and validates the new state, apart from its resourceVersion.
std::optional<base::Error> Registry::CompleteChanged(Change& change, Value& object,
                                                     const Value& old) {
  const Target& target = change.target;
  const Strategy& strategy = target.served.row->strategy;
  const Settings settings = settings_();
  const Door door = change.how.door;
  rules::PrepareUpdatedMetadata(object, old);
  codec::SetAt(object, {"metadata", "resourceVersion"},
               codec::StringAt(old, "metadata", "resourceVersion"));
  if (auto warning = rules::DropRepeatedOwners(object)) {
    change.warnings.push_back(*std::move(warning));
  }
  if (strategy.hide != nullptr) strategy.hide(object);  // Clients cannot set hidden parts.
  if (strategy.fill != nullptr) strategy.fill(object);
  if (change.how.way != Way::kApply) Track(target, door, change.options.manager, old, object);
  if (strategy.prepare_update != nullptr) strategy.prepare_update(object, old, door, settings);
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
