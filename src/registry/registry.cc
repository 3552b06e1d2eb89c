#include "registry/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/go_text.h"
#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/managed_fields.h"
#include "registry/deletion.h"
#include "registry/object_errors.h"
#include "rules/metadata.h"
#include "rules/names.h"

namespace berth::registry {
namespace {

using codec::Value;

/// How many names are drawn when generated names are taken.
constexpr int kNameTries = 8;

/// Returns the time to live for the store, which counts from when it gets the write.
std::chrono::seconds TimeLeft(base::WallTime ends, base::WallTime now) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(ends - now), std::chrono::seconds(1));
}

base::Error Terminating(const Target& target, std::string_view name) {
  base::Error error = Forbidden(
      target.served.Kind(), name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  target.name_space));
  error.causes.push_back(
      {.reason = "NamespaceTerminating",
       .message = fmt::format("namespace {} is being terminated", target.name_space),
       .field = "metadata.namespace"});
  return error;
}

}  // namespace

/// A create in progress.
struct Registry::Creation {
  Target target;
  Value object;
  CommonOptions options;
  Done done;
  std::string name_base = {};  // generateName, if the name is drawn from it.
  Value as_sent = {};          // The object to begin again with, if that name is taken.
  bool name_as_given = false;  // generateName is the name itself.
  int tries = 0;
  bool complete = false;
  std::shared_ptr<WriteHooks> hooks = {};
  std::vector<std::string> warnings = {};
};

/// A deletion in progress.
struct Registry::Deletion {
  Target target;
  DeleteOptions remove;
  std::shared_ptr<WriteHooks> hooks;
};

Registry::Registry(const Kinds& kinds, const state::Resources& resources,
                   commit::Sequencer& sequencer, const HookTable& hooks,
                   std::function<Settings()> settings, const base::Clock& clock,
                   const base::SeededRandom& random)
    : kinds_(kinds),
      resources_(resources),
      sequencer_(sequencer),
      hooks_(hooks),
      settings_(std::move(settings)),
      clock_(clock),
      uuids_(random),
      random_(random) {}

base::Result<Value> Registry::Decode(const Row& row, const state::Object& object) {
  const std::string_view protobuf = object.Protobuf();
  if (protobuf.empty()) {
    std::string json;
    json.reserve(object.JsonSize());
    object.AppendJson(json);
    return codec::DecodeWire(json, *row.kind->message);
  }
  auto value = codec::DecodeProto(protobuf, *row.kind->message, {.bytes = SIZE_MAX});
  if (value && object.Revision() != 0) {
    codec::SetAt(*value, {"metadata", "resourceVersion"}, std::to_string(object.Revision()));
  }
  return value;
}

std::optional<std::string> Registry::KeyOf(const Target& target) const {
  const auto name = target.served.StoredName(target.name);
  if (!name) return std::nullopt;
  return resources_.Key(target.served.row->resource, target.name_space, *name);
}

std::string Registry::RandomText(size_t length) {
  base::MutexLock lock(mutex_);
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    text.push_back(rules::kGeneratedSuffixAlphabet[base::Uniform(
        random_, rules::kGeneratedSuffixAlphabet.size())]);
  }
  return text;
}

std::optional<commit::Guard> Registry::NamespaceGuard(const Target& target,
                                                      const std::string& shown_name) const {
  if (!target.served.row->kind->namespaced) return std::nullopt;
  const Row& row = kinds_.NamespaceRow();
  return commit::Guard{.key = resources_.Key(row.resource, {}, target.name_space),
                       .check = [target, shown_name, &row](
                                    const state::ObjectPtr& found) -> std::optional<base::Error> {
                         if (found == nullptr) return NotFound(*row.kind, target.name_space);
                         if (IsBeingDeleted(row, *found)) return Terminating(target, shown_name);
                         return std::nullopt;
                       }};
}

std::vector<commit::Guard> Registry::KeeperGuards(const Target& target, const Value& object) const {
  const Strategy& strategy = target.served.row->strategy;
  const auto keeper = strategy.keeper == nullptr ? std::nullopt : strategy.keeper(object);
  const Row* row = keeper ? kinds_.FindRow(*keeper->kind) : nullptr;
  if (row == nullptr) return {};
  auto check = [target, row, object,
                &strategy](const state::ObjectPtr& found) -> std::optional<base::Error> {
    if (found == nullptr) return std::nullopt;
    const auto value = DecodeWithoutManagedFields(*row, *found);
    if (!value) return value.error();
    const auto why = strategy.objection(object, *value);
    if (!why) return std::nullopt;
    return Conflict(target.served.Kind(), target.name, *why);
  };
  return {{.key = resources_.Key(row->resource, keeper->name_space, keeper->name),
           .check = std::move(check)}};
}

bool Registry::HasEnded(const Row& row, const state::Object& object) const {
  if (row.strategy.ends == nullptr) return false;
  const auto value = DecodeWithoutManagedFields(row, object);
  const auto ends = value ? row.strategy.ends(*value, object.Hidden()) : std::nullopt;
  return ends && *ends <= clock_.Now();
}

void Registry::Encode(const Row& row, const Draft& draft, commit::Decision& decision) const {
  decision.stored = ToStored(row, draft.object, draft.hidden);
  decision.wire = ToWireText(row, draft.object, draft.hidden);
  decision.ttl = row.strategy.ttl;
  const auto ends =
      row.strategy.ends == nullptr ? std::nullopt : row.strategy.ends(draft.object, draft.hidden);
  if (ends) decision.ttl = TimeLeft(*ends, clock_.Now());
}

Registry::Decided Registry::Put(WriteHooks& hooks, const Attempt& attempt, Draft& draft) const {
  commit::Decision decision{.kind = commit::Decision::Kind::kPut};
  auto refusal = draft.old == nullptr ? hooks.OnCreate(attempt, draft, decision)
                                      : hooks.OnUpdate(attempt, draft, decision);
  if (refusal) return tl::unexpected(*std::move(refusal));
  const bool unchanged = draft.old != nullptr && draft.object == *draft.old;
  if (unchanged && !decision.HasMore()) return commit::Decision{};
  Encode(*attempt.target.served.row, draft, decision);
  return decision;
}

Registry::Decided Registry::Remove(WriteHooks& hooks, const Attempt& attempt,
                                   const Value& object) const {
  commit::Decision decision{.kind = commit::Decision::Kind::kDelete};
  if (auto refusal = hooks.OnDelete(attempt, object, decision)) {
    return tl::unexpected(*std::move(refusal));
  }
  for (commit::Guard& guard : KeeperGuards(attempt.target, object)) {
    decision.guards.push_back(std::move(guard));
  }
  return decision;
}

/// Records the manager of the fields that changed. Fields are named as in the view that they are
/// written through, or, if that view cannot change them, as in the stored form.
void Registry::Track(const Target& target, Door door, const std::string& manager, const Value& old,
                     Value& object) const {
  const bool as_stored = target.served.IsStoredForm() || target.served.view->repeats != nullptr;
  const merge::FieldWrite write{.kind = as_stored ? *target.served.row->kind : target.served.Kind(),
                                .subresource = SubresourceOf(door),
                                .manager = manager,
                                .now = clock_.Now()};
  if (as_stored) return merge::TrackUpdate(write, old, object);
  const auto view = target.served.view->from_stored;
  Value shown = view(object);
  merge::TrackUpdate(write, codec::ObjectAt(old).empty() ? old : view(old), shown);
  codec::CopyAt(object, shown, {"metadata", "managedFields"});
}

/// Completes everything of a new object that does not depend on the present state.
std::optional<base::Error> Registry::CompleteNew(const Target& target, Door door,
                                                 const std::string* manager, Value& object,
                                                 std::vector<std::string>& warnings) {
  const Row& row = *target.served.row;
  const Strategy& strategy = row.strategy;
  const Settings settings = settings_();
  codec::SetAt(object, {"metadata", "uid"}, uuids_.Next());
  codec::SetAt(object, {"metadata", "creationTimestamp"}, codec::FormatTime(clock_.Now()));
  codec::EraseAt(object, {"metadata", "resourceVersion"});
  if (auto warning = rules::DropRepeatedOwners(object)) warnings.push_back(*std::move(warning));
  if (strategy.hide != nullptr) strategy.hide(object);  // Clients cannot set hidden parts.
  if (strategy.fill != nullptr) strategy.fill(object);
  if (manager != nullptr) Track(target, door, *manager, codec::Object(), object);
  if (strategy.prepare_create != nullptr) strategy.prepare_create(object, settings);
  rules::FieldErrors errors;
  if (strategy.complete != nullptr && door == Door::kMain) {
    errors = strategy.complete(object, nullptr, settings);
  }
  if (errors.empty() && strategy.validate_create != nullptr) {
    errors = strategy.validate_create(object, *target.served.view);
  }
  if (errors.empty()) errors = rules::ValidateCreatedMetadata(object, ScopeOf(row));
  if (!errors.empty()) return InvalidObject(errors, target.served.Kind(), target.name);
  if (strategy.decorate != nullptr) strategy.decorate(object, settings);
  return std::nullopt;
}

void Registry::AddAdvice(const Target& target, Door door, const Value& object,
                         std::vector<std::string>& warnings) {
  const auto warn = target.served.row->strategy.warn;
  if (warn == nullptr) return;
  for (std::string& text : warn(object, door)) warnings.push_back(std::move(text));
}

void Registry::AddAdviceOnNew(const Target& target, Door door, const Value& object,
                              std::vector<std::string>& warnings) {
  if (const auto warn = target.served.row->strategy.warn_create) {
    for (std::string& text : warn(object)) warnings.push_back(std::move(text));
  }
  AddAdvice(target, door, object, warnings);
}

void Registry::AddAdvice(WriteHooks& hooks, const Value& object,
                         std::vector<std::string>& warnings) {
  if (auto warning = hooks.Warning(object)) warnings.push_back(*std::move(warning));
}

// Create.

void Registry::Create(Target target, Value object, CommonOptions options, Done done) {
  if (!codec::StringAt(object, "metadata", "resourceVersion").empty()) {
    return done(base::Fail(base::Reason::kUnknown,
                           "resourceVersion should not be set on objects to be created"));
  }
  rules::PrepareCreatedMetadata(object);
  auto creation = std::make_shared<Creation>();
  creation->target = std::move(target);
  creation->object = std::move(object);
  creation->options = std::move(options);
  creation->done = std::move(done);
  creation->hooks =
      hooks_.Of(*creation->target.served.row).Begin(creation->target, creation->options);
  if (codec::StringAt(creation->object, "metadata", "name").empty()) {
    creation->name_base = codec::StringAt(creation->object, "metadata", "generateName");
    creation->name_as_given = creation->target.served.row->strategy.name_as_given;
    creation->as_sent = creation->object;
  }
  TryCreate(creation);
}

void Registry::TryCreate(const std::shared_ptr<Creation>& creation) {
  if (!creation->name_base.empty()) {
    codec::SetAt(
        creation->object, {"metadata", "name"},
        creation->name_as_given
            ? creation->name_base
            : rules::GeneratedName(creation->name_base, RandomText(rules::kGeneratedSuffixLength)));
  }
  Target& target = creation->target;
  const std::string_view name = codec::StringAt(creation->object, "metadata", "name");
  target.name = target.served.ShownName(name).value_or(std::string(name));
  commit::Write write;
  // A name that cannot be part of a key does not pass validation, which comes first.
  const bool keyed = !target.name.empty() && target.name.find('/') == std::string::npos;
  auto key = keyed ? KeyOf(target) : std::nullopt;
  write.key =
      key ? *std::move(key) : resources_.Key(target.served.row->resource, target.name_space, "?");
  write.dry_run = creation->options.dry_run;
  write.deadline = creation->options.deadline;
  if (auto guard =
          NamespaceGuard(target, creation->name_base.empty() ? target.name : creation->name_base)) {
    write.guards.push_back(*std::move(guard));
  }
  for (commit::Guard& guard : hooks_.Of(*target.served.row).Guards(target)) {
    write.guards.push_back(std::move(guard));
  }
  write.transform = [this, creation](const state::Snapshot& snapshot,
                                     const state::ObjectPtr& current) {
    Decided decision = DecideCreate(*creation, snapshot, current);
    if (!decision) AddWarnings(creation->warnings, decision.error().error);
    return decision;
  };
  sequencer_.Submit(std::move(write), [this, creation](base::Result<commit::Written> written) {
    creation->hooks->OnAnswer();
    if (!written) {
      const bool taken = written.error().reason == base::Reason::kAlreadyExists;
      if (taken && !creation->name_base.empty()) {
        if (++creation->tries < kNameTries && !creation->name_as_given) {
          creation->object = creation->as_sent;
          creation->complete = false;
          creation->warnings.clear();
          return TryCreate(creation);
        }
        written.error().details->retry_after_seconds = 1;
      }
      return creation->done(tl::unexpected(std::move(written.error())));
    }
    written->kind = commit::Written::Kind::kCreated;  // Even if it has replaced an object that did
                                                      // not count.
    AddAdviceOnNew(creation->target, Door::kMain, creation->object, creation->warnings);
    AddAdvice(*creation->hooks, creation->object, creation->warnings);
    creation->done(
        Outcome{.written = *std::move(written), .warnings = std::move(creation->warnings)});
  });
}

Registry::Decided Registry::DecideCreate(Creation& creation, const state::Snapshot& snapshot,
                                         const state::ObjectPtr& current) {
  const Target& target = creation.target;
  if (!creation.complete) {
    creation.hooks->Begin(creation.object);
    if (auto error = CompleteNew(target, Door::kMain, &creation.options.manager, creation.object,
                                 creation.warnings)) {
      return tl::unexpected(*std::move(error));
    }
    creation.complete = true;
  }
  const Row& row = *target.served.row;
  if (Exists(row, current)) {
    base::Error exists =
        AlreadyExists(target.served.Kind(), target.name, IsBeingDeleted(row, *current));
    AddAdviceOnNew(target, Door::kMain, creation.object, exists.warnings);
    auto warning = hooks_.Of(row).WarningAboutExisting(target, *current);
    if (warning) exists.hints.push_back(*std::move(warning));
    return tl::unexpected(std::move(exists));
  }
  Draft draft{.object = creation.object};
  return Put(*creation.hooks, {.snapshot = snapshot, .target = target}, draft);
}

// Delete.

void Registry::Delete(Target target, DeleteOptions remove, const CommonOptions& options,
                      Done done) {
  auto key = KeyOf(target);
  if (!key) return done(tl::unexpected(NotFound(target.served, target.name)));
  KindHooks& hooks = hooks_.Of(*target.served.row);
  auto begun = hooks.Begin(target, options);
  auto deletion = std::make_shared<Deletion>(Deletion{
      .target = std::move(target), .remove = std::move(remove), .hooks = std::move(begun)});
  commit::Write write;
  write.key = *std::move(key);
  write.dry_run = options.dry_run;
  write.deadline = options.deadline;
  write.guards = hooks.Guards(deletion->target);
  write.transform = [this, deletion](const state::Snapshot& snapshot,
                                     const state::ObjectPtr& current) {
    return DecideDelete(*deletion, snapshot, current);
  };
  sequencer_.Submit(std::move(write),
                    [deletion, done = std::move(done)](base::Result<commit::Written> written) {
                      deletion->hooks->OnAnswer();
                      if (!written) return done(tl::unexpected(std::move(written.error())));
                      done(Outcome{.written = *std::move(written)});
                    });
}

Registry::Decided Registry::DecideDelete(Deletion& deletion, const state::Snapshot& snapshot,
                                         const state::ObjectPtr& current) {
  const Target& target = deletion.target;
  const DeleteOptions& remove = deletion.remove;
  const Row& row = *target.served.row;
  if (&row == &kinds_.NamespaceRow() && IsProtectedNamespace(target.name)) {
    return tl::unexpected(Forbidden(*row.kind, target.name, "this namespace may not be deleted"));
  }
  if (current == nullptr) return tl::unexpected(NotFound(target.served, target.name));
  auto object = Decode(row, *current);
  if (!object) return tl::unexpected(object.error());
  if (auto error = CheckPreconditions(target, remove, *object)) {
    return tl::unexpected(*std::move(error));
  }
  const Value before = *object;
  // A namespace is never removed at once, since its objects are deleted first. Only the first
  // delete decides the propagation.
  const bool is_namespace = row.strategy.keeps_spec_finalizers;
  const bool begins = is_namespace && !IsBeingDeleted(*object);
  if (is_namespace && !begins && HasSpecFinalizers(*object)) return commit::Decision{};
  if (row.strategy.owns_nothing) {
    SetPropagation(*object, Propagation::kBackground);
  } else if (remove.propagation) {
    SetPropagation(*object, *remove.propagation);
  }
  const Attempt attempt{.snapshot = snapshot, .target = target, .marks_deleted = true};
  if (begins) {
    codec::SetAt(*object, {"metadata", "deletionTimestamp"}, codec::FormatTime(clock_.Now()));
    codec::SetAt(*object, {"status", "phase"}, "Terminating");
  } else if (HasFinalizers(row, *object)) {
    MarkDeleted(*object, clock_.Now());
  } else {
    return Remove(*deletion.hooks, attempt, before);
  }
  Draft draft{.object = *object, .old = &before, .hidden = std::string(current->Hidden())};
  Decided decision = Put(*deletion.hooks, attempt, draft);
  if (decision && decision->kind == commit::Decision::Kind::kPut) {
    for (commit::Guard& guard : KeeperGuards(target, before)) {
      decision->guards.push_back(std::move(guard));
    }
  }
  return decision;
}

}  // namespace berth::registry
