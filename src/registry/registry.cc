#include "registry/registry.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/go_text.h"
#include "codec/encode.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "registry/deletion.h"
#include "registry/errors.h"
#include "rules/metadata.h"
#include "rules/names.h"

namespace berth::registry {
namespace {

using codec::Value;

/// How often another name is drawn when a generated one is taken.
constexpr int kNameTries = 8;

rules::Scope ScopeOf(const Row& row) {
  return row.kind->namespaced ? rules::Scope::kNamespaced : rules::Scope::kCluster;
}

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

std::optional<base::Error> CheckVersions(const Target& target, const Value& next,
                                         const Value& current) {
  const std::string_view uid = codec::StringAt(next, "metadata", "uid");
  const std::string_view current_uid = codec::StringAt(current, "metadata", "uid");
  if (!uid.empty() && uid != current_uid) {
    return Conflict(target.served.Kind(), target.name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: "
                                "{}",
                                uid, current_uid));
  }
  const std::string_view version = codec::StringAt(next, "metadata", "resourceVersion");
  if (version.find_first_not_of("0123456789") != std::string_view::npos) {
    return base::Error{.reason = base::Reason::kUnknown,
                       .message = fmt::format("strconv.ParseUint: parsing {}: invalid syntax",
                                              base::GoQuoted(version))};
  }
  const bool any = version.empty() || version == "0";
  if (any && target.served.row->strategy.needs_version) return VersionRequired(target);
  if (!any && version != codec::StringAt(current, "metadata", "resourceVersion")) {
    return Conflict(target.served.Kind(), target.name, kModified);
  }
  return std::nullopt;
}

base::Error InvalidObject(const rules::FieldErrors& errors, const api::Kind& kind,
                          std::string_view name) {
  base::Error error = errors.ToError(QualifiedKind(kind), name);
  error.details = base::Details{
      .name = std::string(name), .group = std::string(kind.group), .kind = std::string(kind.kind)};
  return error;
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

/// A create on its way.
struct Registry::Creation {
  Target target;
  Value object;
  CommonOptions options;
  Done done;
  std::string name_base = {};  // generateName, when the name is drawn from it.
  int tries = 0;
  bool complete = false;
  std::vector<std::string> warnings = {};
};

/// An update on its way.
struct Registry::Change {
  Target target;
  Door door = Door::kMain;
  NextState next;
  std::optional<base::Error> namespace_error = {};  // As its guard found it.
  state::ObjectPtr last = {};  // The state it asked for, if nothing was left to keep it.
  std::vector<std::string> warnings = {};

  bool MayCreate() const { return target.served.row->strategy.put_creates && door == Door::kMain; }
};

Registry::Registry(const Kinds& kinds, const state::Resources& resources,
                   commit::Sequencer& sequencer, Settings settings, const base::Clock& clock,
                   const base::SeededRandom& random)
    : kinds_(kinds),
      resources_(resources),
      sequencer_(sequencer),
      settings_(std::move(settings)),
      clock_(clock),
      random_(random) {}

base::Result<Value> Registry::Decode(const Row& row, const state::Object& object) {
  auto value = codec::DecodeWire(object.Text(), *row.kind->message);
  if (!value) return value;
  if (object.Revision() != 0) {
    codec::SetAt(*value, {"metadata", "resourceVersion"}, std::to_string(object.Revision()));
  }
  return value;
}

std::string Registry::KeyOf(const Target& target) const {
  return resources_.Key(target.served.row->resource, target.name_space, target.name);
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

std::string Registry::NewUid() {
  base::MutexLock lock(mutex_);
  return base::NewUuid(random_);
}

std::optional<commit::Guard> Registry::NamespaceGuard(const Target& target,
                                                      const std::string& shown_name) const {
  if (!target.served.row->kind->namespaced) return std::nullopt;
  const Row& row = kinds_.NamespaceRow();
  return commit::Guard{.key = resources_.Key(row.resource, {}, target.name_space),
                       .check = [target, shown_name, &row](
                                    const state::ObjectPtr& found) -> std::optional<base::Error> {
                         if (found == nullptr) return NotFound(*row.kind, target.name_space);
                         const auto name_space = Decode(row, *found);
                         if (!name_space) return name_space.error();
                         if (IsBeingDeleted(*name_space)) return Terminating(target, shown_name);
                         return std::nullopt;
                       }};
}

commit::Decision Registry::PutDecision(const Row& row, const Value& object) const {
  codec::WireJson wire = codec::EncodeJson(
      object, *row.kind->message, {.api_version = row.kind->api_version, .kind = row.kind->kind});
  return {.kind = commit::Decision::Kind::kPut,
          .stored = codec::EncodeStored(object, *row.kind),
          .wire = {.text = std::move(wire.text),
                   .metadata_at = wire.metadata_at,
                   .version_at = wire.version_at},
          .ttl = row.strategy.ttl};
}

/// Everything about a new object that does not depend on what is there.
std::optional<base::Error> Registry::CompleteNew(const Target& target, Value& object,
                                                 std::vector<std::string>& warnings) {
  const Row& row = *target.served.row;
  const Strategy& strategy = row.strategy;
  codec::SetAt(object, {"metadata", "uid"}, NewUid());
  codec::SetAt(object, {"metadata", "creationTimestamp"}, codec::FormatTime(clock_.Now()));
  codec::EraseAt(object, {"metadata", "resourceVersion"});
  if (auto warning = rules::DropRepeatedOwners(object)) warnings.push_back(*std::move(warning));
  if (strategy.fill != nullptr) strategy.fill(object);
  if (strategy.prepare_create != nullptr) strategy.prepare_create(object, settings_);
  if (admit_) {
    if (auto error = admit_(target, Door::kMain, nullptr, &object)) return error;
  }
  rules::FieldErrors errors;
  if (strategy.complete != nullptr) errors = strategy.complete(object, nullptr, settings_);
  if (errors.empty() && strategy.validate_create != nullptr) {
    errors = strategy.validate_create(object, *target.served.view);
  }
  if (errors.empty()) errors = rules::ValidateCreatedMetadata(object, ScopeOf(row));
  if (!errors.empty()) {
    return InvalidObject(errors, target.served.Kind(), codec::StringAt(object, "metadata", "name"));
  }
  if (strategy.warn != nullptr) {
    for (std::string& text : strategy.warn(object, Door::kMain))
      warnings.push_back(std::move(text));
  }
  if (strategy.decorate != nullptr) strategy.decorate(object, settings_);
  return std::nullopt;
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
  creation->options = options;
  creation->done = std::move(done);
  if (codec::StringAt(creation->object, "metadata", "name").empty()) {
    creation->name_base = codec::StringAt(creation->object, "metadata", "generateName");
  }
  TryCreate(creation);
}

void Registry::TryCreate(const std::shared_ptr<Creation>& creation) {
  if (!creation->name_base.empty()) {
    codec::SetAt(
        creation->object, {"metadata", "name"},
        rules::GeneratedName(creation->name_base, RandomText(rules::kGeneratedSuffixLength)));
  }
  Target& target = creation->target;
  target.name = codec::StringAt(creation->object, "metadata", "name");
  commit::Write write;
  // A name that cannot be part of a key will not pass validation, which comes first.
  const bool keyed = !target.name.empty() && target.name.find('/') == std::string::npos;
  write.key =
      keyed ? KeyOf(target) : resources_.Key(target.served.row->resource, target.name_space, "?");
  write.dry_run = creation->options.dry_run;
  write.deadline = creation->options.deadline;
  if (auto guard =
          NamespaceGuard(target, creation->name_base.empty() ? target.name : creation->name_base)) {
    write.guards.push_back(*std::move(guard));
  }
  write.transform = [this, creation](const state::ObjectPtr& current) {
    return DecideCreate(*creation, current);
  };
  sequencer_.Submit(std::move(write), [this, creation](base::Result<commit::Written> written) {
    if (!written) {
      const bool taken = written.error().reason == base::Reason::kAlreadyExists;
      if (taken && !creation->name_base.empty()) {
        if (++creation->tries < kNameTries) {
          creation->complete = false;
          creation->warnings.clear();
          return TryCreate(creation);
        }
        written.error().details->retry_after_seconds = 1;
      }
      return creation->done(tl::unexpected(std::move(written.error())));
    }
    creation->done(
        Outcome{.written = *std::move(written), .warnings = std::move(creation->warnings)});
  });
}

base::Result<commit::Decision> Registry::DecideCreate(Creation& creation,
                                                      const state::ObjectPtr& current) {
  if (!creation.complete) {
    if (auto error = CompleteNew(creation.target, creation.object, creation.warnings)) {
      return tl::unexpected(*std::move(error));
    }
    creation.complete = true;
  }
  const Row& row = *creation.target.served.row;
  if (current != nullptr) {
    const auto there = Decode(row, *current);
    return tl::unexpected(AlreadyExists(creation.target.served.Kind(), creation.target.name,
                                        there && IsBeingDeleted(*there)));
  }
  return PutDecision(row, creation.object);
}

// Update.

void Registry::Update(Target target, Door door, NextState next, CommonOptions options, Done done) {
  commit::Write write;
  write.key = KeyOf(target);
  write.dry_run = options.dry_run;
  write.deadline = options.deadline;
  auto change = std::make_shared<Change>(
      Change{.target = std::move(target), .door = door, .next = std::move(next)});
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
    return current == nullptr ? DecideCreateByUpdate(*change) : DecideUpdate(*change, *current);
  };
  sequencer_.Submit(
      std::move(write), [done = std::move(done), change](base::Result<commit::Written> written) {
        if (!written) return done(tl::unexpected(std::move(written.error())));
        if (change->last != nullptr) written->object = change->last;
        done(Outcome{.written = *std::move(written), .warnings = std::move(change->warnings)});
      });
}

base::Result<commit::Decision> Registry::DecideCreateByUpdate(Change& change) {
  if (!change.MayCreate()) {
    return tl::unexpected(NotFound(change.target.served.Kind(), change.target.name));
  }
  if (change.namespace_error) return tl::unexpected(*change.namespace_error);
  auto object = change.next(nullptr);
  if (!object) return tl::unexpected(std::move(object.error()));
  const std::string_view uid = codec::StringAt(*object, "metadata", "uid");
  if (!uid.empty()) {
    return tl::unexpected(Conflict(
        change.target.served.Kind(), change.target.name,
        fmt::format("StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, "
                    "AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID "
                    "in object meta: ",
                    KeyOf(change.target), uid)));
  }
  rules::PrepareCreatedMetadata(*object);
  if (auto error = CompleteNew(change.target, *object, change.warnings)) {
    return tl::unexpected(*std::move(error));
  }
  return PutDecision(*change.target.served.row, *object);
}

base::Result<commit::Decision> Registry::DecideUpdate(Change& change,
                                                      const state::Object& current) {
  const Target& target = change.target;
  const Row& row = *target.served.row;
  const auto old = Decode(row, current);
  if (!old) return tl::unexpected(old.error());
  auto object = change.next(&*old);
  if (!object) return tl::unexpected(std::move(object.error()));
  if (auto error = CheckVersions(target, *object, *old)) return tl::unexpected(*std::move(error));
  if (auto error = CompleteChanged(change, *object, *old)) {
    return tl::unexpected(*std::move(error));
  }
  if (IsBeingDeleted(*object) && !HasFinalizers(row, *object)) {
    if (const auto identity = resources_.Find(current.Key())) {
      change.last =
          state::Object::Make(*identity, current.Revision(), PutDecision(row, *object).wire);
    }
    return commit::Decision{.kind = commit::Decision::Kind::kDelete};
  }
  if (*object == *old) return commit::Decision{};
  return PutDecision(row, *object);
}

/// Everything about the new state but whether it may follow the old one's version.
std::optional<base::Error> Registry::CompleteChanged(Change& change, Value& object,
                                                     const Value& old) {
  const Target& target = change.target;
  const Strategy& strategy = target.served.row->strategy;
  rules::PrepareUpdatedMetadata(object, old);
  codec::SetAt(object, {"metadata", "resourceVersion"},
               codec::StringAt(old, "metadata", "resourceVersion"));
  if (auto warning = rules::DropRepeatedOwners(object)) {
    change.warnings.push_back(*std::move(warning));
  }
  if (strategy.fill != nullptr) strategy.fill(object);
  if (strategy.prepare_update != nullptr) {
    strategy.prepare_update(object, old, change.door, settings_);
  }
  if (admit_) {
    if (auto error = admit_(target, change.door, &old, &object)) return error;
  }
  rules::FieldErrors errors;
  if (strategy.complete != nullptr && change.door == Door::kMain) {
    errors = strategy.complete(object, &old, settings_);
  }
  if (errors.empty()) {
    errors = rules::ValidateUpdatedMetadata(object, old, ScopeOf(*target.served.row));
    if (strategy.validate_update != nullptr) {
      errors.Append(strategy.validate_update(object, old, change.door, *target.served.view));
    }
  }
  if (!errors.empty()) return InvalidObject(errors, target.served.Kind(), target.name);
  if (strategy.warn != nullptr) {
    for (std::string& text : strategy.warn(object, change.door)) {
      change.warnings.push_back(std::move(text));
    }
  }
  if (strategy.decorate != nullptr) strategy.decorate(object, settings_);
  return std::nullopt;
}

// Delete.

void Registry::Delete(Target target, DeleteOptions remove, CommonOptions options, Done done) {
  commit::Write write;
  write.key = KeyOf(target);
  write.dry_run = options.dry_run;
  write.deadline = options.deadline;
  write.transform = [this, target = std::move(target),
                     remove = std::move(remove)](const state::ObjectPtr& current) {
    return DecideDelete(target, remove, current);
  };
  sequencer_.Submit(std::move(write),
                    [done = std::move(done)](base::Result<commit::Written> written) {
                      if (!written) return done(tl::unexpected(std::move(written.error())));
                      done(Outcome{.written = *std::move(written)});
                    });
}

base::Result<commit::Decision> Registry::DecideDelete(const Target& target,
                                                      const DeleteOptions& remove,
                                                      const state::ObjectPtr& current) {
  const Row& row = *target.served.row;
  if (&row == &kinds_.NamespaceRow() && IsProtectedNamespace(target.name)) {
    return tl::unexpected(Forbidden(*row.kind, target.name, "this namespace may not be deleted"));
  }
  if (current == nullptr) return tl::unexpected(NotFound(target.served.Kind(), target.name));
  auto object = Decode(row, *current);
  if (!object) return tl::unexpected(object.error());
  if (auto error = CheckPreconditions(target, remove, *object)) {
    return tl::unexpected(*std::move(error));
  }
  if (admit_) {
    if (auto error = admit_(target, Door::kMain, &*object, nullptr)) {
      return tl::unexpected(*std::move(error));
    }
  }
  const Value before = *object;
  if (remove.propagation && !row.strategy.owns_nothing) {
    SetPropagation(*object, *remove.propagation);
  }
  if (!HasFinalizers(row, *object)) {
    return commit::Decision{.kind = commit::Decision::Kind::kDelete};
  }
  if (!IsBeingDeleted(*object)) {
    codec::SetAt(*object, {"metadata", "deletionTimestamp"}, codec::FormatTime(clock_.Now()));
    if (!row.strategy.keeps_spec_finalizers) {
      codec::SetAt(*object, {"metadata", "deletionGracePeriodSeconds"}, 0);
      const int64_t generation = codec::IntAt(*object, "metadata", "generation");
      if (generation > 0) codec::SetAt(*object, {"metadata", "generation"}, generation + 1);
    }
  }
  if (row.strategy.keeps_spec_finalizers) {
    codec::SetAt(*object, {"status", "phase"}, "Terminating");
  }
  if (*object == before) return commit::Decision{};
  return PutDecision(row, *object);
}

}  // namespace berth::registry
