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
#include "registry/allocation_forms.h"
#include "registry/deletion.h"
#include "registry/errors.h"
#include "registry/reservations.h"
#include "rules/metadata.h"
#include "rules/names.h"

namespace berth::registry {
namespace {

using codec::Value;

/// How often another name is drawn when a generated one is taken.
constexpr int kNameTries = 8;

/// What the store is told, which counts from when it gets it.
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

/// A create on its way.
struct Registry::Creation {
  Target target;
  Value object;
  CommonOptions options;
  Done done;
  std::string name_base = {};  // generateName, when the name is drawn from it;
  Value as_sent = {};          // what to begin with again when that is taken.
  bool name_as_given = false;  // It is that name itself.
  int tries = 0;
  bool complete = false;
  std::optional<Reservation> reservation = {};
  std::optional<rules::ServiceClaims> claims = {};  // Once it is complete.
  commit::Allocations::TicketPtr ticket = {};
  RangeChanges::OperationPtr operation = {};
  std::vector<std::string> warnings = {};
};

/// A deletion on its way.
struct Registry::Deletion {
  Target target;
  DeleteOptions remove;
  CommonOptions options;
  RangeChanges::OperationPtr operation = {};
};

Registry::Registry(const Kinds& kinds, const state::Resources& resources,
                   commit::Sequencer& sequencer, Addresses& addresses, const Gates& gates,
                   const base::Clock& clock, const base::SeededRandom& random)
    : kinds_(kinds),
      rows_(RecordRowsOf(kinds)),
      resources_(resources),
      sequencer_(sequencer),
      addresses_(addresses),
      gates_(gates),
      ranges_(RecordRowsOf(kinds), gates, sequencer, addresses.GetAllocations(), clock, random),
      clock_(clock),
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
                         if (IsBeingDeleted(row, *found)) return Terminating(target, shown_name);
                         return std::nullopt;
                       }};
}

std::optional<commit::Guard> Registry::FormGuard(const Target& target) const {
  const Row* row = target.served.row;
  if (row != rows_.ip_addresses && row != rows_.node_ports) return std::nullopt;
  return commit::Guard{
      .key = kFormKey,
      .check = [this, target](const state::ObjectPtr& found) -> std::optional<base::Error> {
        const auto note = found ? ReadFormNote(rows_, *found) : std::nullopt;
        if (!note) return std::nullopt;
        return NeedsRecords(target.served.Kind(), target.name, note->form);
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

commit::Decision Registry::PutDecision(const Row& row, const Value& object,
                                       std::string_view hidden) const {
  commit::Decision decision{.kind = commit::Decision::Kind::kPut,
                            .stored = ToStored(row, object, hidden),
                            .wire = ToWireText(row, object, hidden),
                            .ttl = row.strategy.ttl};
  const auto ends = row.strategy.ends == nullptr ? std::nullopt : row.strategy.ends(object, hidden);
  if (ends) decision.ttl = TimeLeft(*ends, clock_.Now());
  return decision;
}

Registry::Decided Registry::PutWithAddresses(const Row& row, Value& object, const Value* old,
                                             const rules::ServiceClaims& claims,
                                             commit::Allocations::TicketPtr& ticket) {
  auto plan = addresses_.Change({.service = object, .old = old, .claims = claims},
                                sequencer_.GetFollower(), ticket);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  commit::Decision decision = PutDecision(row, object, {});
  std::move(*plan).AddTo(decision);
  return decision;
}

Registry::Decided Registry::PutReservation(const Target& target, Reservation& reservation,
                                           Value& object) {
  auto fence = reservation.Place({.allocations = addresses_.GetAllocations(),
                                  .rows = rows_,
                                  .follower = sequencer_.GetFollower(),
                                  .now = clock_.Now()},
                                 target.name, object);
  if (!fence) return tl::unexpected(std::move(fence.error()));
  commit::Decision decision = PutDecision(*target.served.row, object, reservation.Hidden());
  decision.compares.push_back(*std::move(fence));
  return decision;
}

Registry::Decided Registry::WithRanges(const Target& target, const Value* old, const Value* next,
                                       const CommonOptions& options,
                                       RangeChanges::OperationPtr& operation, Decided decided) {
  const Row& row = *target.served.row;
  if (!row.strategy.is_range || !decided || decided->kind == commit::Decision::Kind::kNothing) {
    return decided;
  }
  auto refusal =
      ranges_.Complete(operation, {.row = &row, .name = target.name, .old = old, .next = next},
                       {.dry_run = options.dry_run,
                        .deadline = options.deadline,
                        .in_any_form = options.in_any_form},
                       *decided);
  if (refusal) return tl::unexpected(*std::move(refusal));
  return decided;
}

commit::Decision Registry::Removal(const Target& target, const Value& object) {
  commit::Decision decision{.kind = commit::Decision::Kind::kDelete};
  if (target.served.row->strategy.has_addresses) {
    addresses_.Remove(object, sequencer_.GetFollower()).AddTo(decision);
  }
  for (commit::Guard& guard : KeeperGuards(target, object)) {
    decision.guards.push_back(std::move(guard));
  }
  return decision;
}

/// Whose fields they are from now on. Fields are named as in the view they are written through, or
/// rather in the one that they can be changed through.
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

/// Everything about a new object that does not depend on what is there.
std::optional<base::Error> Registry::CompleteNew(const Target& target, Door door,
                                                 const std::string* manager, Value& object,
                                                 std::vector<std::string>& warnings) {
  const Row& row = *target.served.row;
  const Strategy& strategy = row.strategy;
  const Settings settings = GetSettings();
  codec::SetAt(object, {"metadata", "uid"}, NewUid());
  codec::SetAt(object, {"metadata", "creationTimestamp"}, codec::FormatTime(clock_.Now()));
  codec::EraseAt(object, {"metadata", "resourceVersion"});
  if (auto warning = rules::DropRepeatedOwners(object)) warnings.push_back(*std::move(warning));
  if (strategy.hide != nullptr) strategy.hide(object);  // That is not the client's to say.
  if (strategy.fill != nullptr) strategy.fill(object);
  if (manager != nullptr) Track(target, door, *manager, codec::Object(), object);
  if (strategy.prepare_create != nullptr) strategy.prepare_create(object, settings);
  if (admit_) {
    if (auto error = admit_(target, door, nullptr, &object)) return error;
  }
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

void Registry::AddAdvice(const Reservation& reservation, const Value& object,
                         std::vector<std::string>& warnings) const {
  auto advice = reservation.Advice(addresses_.GetAllocations(), object);
  if (advice) warnings.push_back(*std::move(advice));
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
  // A name that cannot be part of a key will not pass validation, which comes first.
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
  if (auto guard = FormGuard(target)) write.guards.push_back(*std::move(guard));
  write.transform = [this, creation](const state::ObjectPtr& current) {
    Decided decision = DecideCreate(*creation, current);
    if (!decision) AddWarnings(creation->warnings, decision.error().error);
    return decision;
  };
  sequencer_.Submit(std::move(write), [this, creation](base::Result<commit::Written> written) {
    ranges_.Finish(creation->operation);
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
    written->kind = commit::Written::Kind::kCreated;  // Whatever it may have replaced.
    AddAdvice(creation->target, Door::kMain, creation->object, creation->warnings);
    if (creation->reservation) {
      AddAdvice(*creation->reservation, creation->object, creation->warnings);
    }
    creation->done(
        Outcome{.written = *std::move(written), .warnings = std::move(creation->warnings)});
  });
}

Registry::Decided Registry::DecideCreate(Creation& creation, const state::ObjectPtr& current) {
  if (!creation.complete) {
    creation.reservation = Reservation::Begin(creation.target.served, creation.object);
    if (auto error = CompleteNew(creation.target, Door::kMain, &creation.options.manager,
                                 creation.object, creation.warnings)) {
      return tl::unexpected(*std::move(error));
    }
    creation.complete = true;
    if (creation.target.served.row->strategy.has_addresses) {
      creation.claims = rules::ClaimsOf(creation.object, nullptr);
    }
  }
  const Row& row = *creation.target.served.row;
  if (IsThere(row, current)) {
    base::Error exists = AlreadyExists(creation.target.served.Kind(), creation.target.name,
                                       IsBeingDeleted(row, *current));
    AddAdvice(creation.target, Door::kMain, creation.object, exists.warnings);
    return tl::unexpected(std::move(exists));
  }
  if (creation.reservation) {
    return PutReservation(creation.target, *creation.reservation, creation.object);
  }
  if (creation.claims) {
    return PutWithAddresses(row, creation.object, nullptr, *creation.claims, creation.ticket);
  }
  return WithRanges(creation.target, nullptr, &creation.object, creation.options,
                    creation.operation, PutDecision(row, creation.object, {}));
}

// Delete.

void Registry::Delete(Target target, DeleteOptions remove, const CommonOptions& options,
                      Done done) {
  auto key = KeyOf(target);
  if (!key) return done(tl::unexpected(NotFound(target.served.Kind(), target.name)));
  auto deletion = std::make_shared<Deletion>(
      Deletion{.target = std::move(target), .remove = std::move(remove), .options = options});
  commit::Write write;
  write.key = *std::move(key);
  write.dry_run = options.dry_run;
  write.deadline = options.deadline;
  if (auto guard = FormGuard(deletion->target)) write.guards.push_back(*std::move(guard));
  write.transform = [this, deletion](const state::ObjectPtr& current) {
    return DecideDelete(*deletion, current);
  };
  sequencer_.Submit(std::move(write), [this, deletion, done = std::move(done)](
                                          base::Result<commit::Written> written) {
    ranges_.Finish(deletion->operation);
    if (!written) return done(tl::unexpected(std::move(written.error())));
    done(Outcome{.written = *std::move(written)});
  });
}

Registry::Decided Registry::DecideDelete(Deletion& deletion, const state::ObjectPtr& current) {
  const Target& target = deletion.target;
  const DeleteOptions& remove = deletion.remove;
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
  // A namespace never goes at once, since what is in it goes first; and only its first deletion has
  // a say in how.
  const bool is_namespace = row.strategy.keeps_spec_finalizers;
  const bool begins = is_namespace && !IsBeingDeleted(*object);
  if (is_namespace && !begins && HasSpecFinalizers(*object)) return commit::Decision{};
  if (row.strategy.owns_nothing) {
    SetPropagation(*object, Propagation::kBackground);
  } else if (remove.propagation) {
    SetPropagation(*object, *remove.propagation);
  }
  if (begins) {
    codec::SetAt(*object, {"metadata", "deletionTimestamp"}, codec::FormatTime(clock_.Now()));
    codec::SetAt(*object, {"status", "phase"}, "Terminating");
  } else if (HasFinalizers(row, *object)) {
    MarkDeleted(*object, clock_.Now());
  } else {
    return WithRanges(target, &before, nullptr, deletion.options, deletion.operation,
                      Removal(target, before));
  }
  if (*object == before) return commit::Decision{};
  commit::Decision decision = PutDecision(row, *object, current->Hidden());
  decision.guards = KeeperGuards(target, before);
  return WithRanges(target, &before, &*object, deletion.options, deletion.operation,
                    std::move(decision));
}

}  // namespace berth::registry
