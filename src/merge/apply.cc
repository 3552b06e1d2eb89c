#include "merge/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "codec/yaml_read.h"
#include "merge/apply_conflicts.h"
#include "merge/last_applied.h"
#include "merge/managers.h"
#include "merge/restore.h"
#include "merge/typed.h"

namespace berth::merge {
namespace {

using base::Reason;
using codec::StringAt;
using codec::Value;

constexpr std::string_view kBeforeFirstApply = "before-first-apply";
/// The manager name of `kubectl apply --server-side`.
constexpr std::string_view kKubectl = "kubectl";

/// Converts whole numbers to integers, as Go does: 80.0 is a port.
void MakeIntegers(Value& value) {
  if (codec::Array* array = value.AsArray()) {
    for (Value& item : *array) MakeIntegers(item);
  } else if (const codec::Object* object = value.AsObject()) {
    for (const codec::Member& member : *object) MakeIntegers(*value.Find(member.key));
  } else if (value.GetKind() == codec::Kind::kDouble) {
    constexpr double kBound = 9007199254740992;  // 2^53: beyond it doubles are not exact.
    const double number = *value.AsDouble();
    if (number == std::trunc(number) && std::abs(number) <= kBound) {
      value = static_cast<int64_t>(number);
    }
  }
}

/// Returns the type of a document as Go prints it: "/v1, Kind=Service", "/, Kind=".
std::string TypeText(const Value& document) {
  std::string_view api_version = StringAt(document, "apiVersion");
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) api_version = {};
  const bool has_group = api_version.find('/') != std::string_view::npos;
  return fmt::format("{}{}, Kind={}", has_group ? "" : "/", api_version,
                     StringAt(document, "kind"));
}

std::string NameAndType(const Value& config) {
  return fmt::format("{}/{}; {}", StringAt(config, "metadata", "namespace"),
                     StringAt(config, "metadata", "name"), TypeText(config));
}

bool HasManagedFields(const Value& config) {
  const Value* entries = codec::FindAt(config, "metadata", "managedFields");
  const codec::Array* array = entries == nullptr ? nullptr : entries->AsArray();
  return array != nullptr && std::all_of(array->begin(), array->end(), [](const Value& entry) {
           return entry.AsObject() != nullptr;
         });
}

/// Returns the type name of Go's JSON decoder.
std::string_view JsonTypeName(const Value& value) {
  if (value.AsArray() != nullptr) return "array";
  if (value.AsString() != nullptr) return "string";
  return value.AsBool() ? "bool" : "number";
}

std::string Joined(const std::vector<std::string>& errors) {
  return errors.size() == 1 ? errors.front()
                            : fmt::format("errors:\n  {}", fmt::join(errors, "\n  "));
}

/// Removes the fields that the manager applied last time and no longer
/// mentions, unless others own them.
Value Prune(const Value& merged, const FieldSet& last, const FieldSet& owned,
            const api::Message& message) {
  const FieldSet last_named = WithNamedFields(last, message);
  const FieldSet all = WithNamedFields(FieldsOf(merged, message), message);
  const auto fields_of = [&](const Value& document) {
    return WithNamedFields(FieldsOf(document, message), message);
  };
  // Removing a list entry removes all that is in it. So fields that a manager owns are kept, and so
  // are those that this manager never applied.
  const Value without_last = WithoutFields(merged, last_named, message);
  const FieldSet kept = fields_of(without_last).Union(WithNamedFields(owned, message));
  const Value without_unowned = WithoutFields(merged, all.Difference(kept), message);
  const FieldSet gone = all.Difference(fields_of(without_unowned));
  return WithoutFields(merged, gone.Intersection(last_named), message);
}

class Application {
 public:
  Application(const FieldWrite& write, const Value& live, const Value& config)
      : write_(write), message_(*write.kind.message), live_(live), config_(config) {}

  base::Result<Value> Run(bool force) {
    if (auto error = Prepare()) return tl::unexpected(*std::move(error));
    Outcome outcome = Attempt(force);
    if (write_.manager == kKubectl && !outcome.conflicts.empty()) {
      const FieldSet allowed = FieldsLastApplied(live_document_, live_, write_.kind);
      std::erase_if(outcome.conflicts,
                    [&](const Conflict& conflict) { return allowed.Contains(conflict.path); });
      if (outcome.conflicts.empty()) outcome = Attempt(/*force=*/true);
    }
    if (!outcome.conflicts.empty()) return tl::unexpected(ConflictError(outcome.conflicts));
    return Finish(outcome);
  }

 private:
  struct Outcome {
    Value document = {};
    Managers managers = {};
    std::vector<Conflict> conflicts = {};
  };

  static base::Error Failure(Reason reason, std::string message) {
    return {.reason = reason, .message = std::move(message)};
  }

  std::optional<base::Error> Prepare() {
    if (config_.AsObject() == nullptr && !config_.IsNull()) {
      return Failure(Reason::kBadRequest,
                     "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: "
                     "cannot unmarshal " +
                         std::string(JsonTypeName(config_)) +
                         " into Go value of type map[string]interface {}");
    }
    if (StringAt(config_, "apiVersion") != write_.kind.api_version ||
        StringAt(config_, "kind") != write_.kind.kind) {
      return Failure(Reason::kBadRequest, "invalid object type: " + TypeText(config_));
    }
    if (auto error = ReadLive()) return error;
    if (HasManagedFields(config_)) {
      return Failure(Reason::kBadRequest, "metadata.managedFields must be nil");
    }
    config_document_ = config_;
    MakeIntegers(config_document_);
    codec::EraseAt(config_document_, {"apiVersion"});
    codec::EraseAt(config_document_, {"kind"});
    const std::vector<std::string> errors = FindTypeErrors(config_document_, message_);
    if (errors.empty()) return std::nullopt;
    return Failure(Reason::kUnknown, fmt::format("failed to create typed patch object ({}): {}",
                                                 NameAndType(config_), Joined(errors)));
  }

  std::optional<base::Error> ReadLive() {
    auto managers = ReadManagers(codec::ArrayAt(live_, "metadata", "managedFields"));
    if (!managers) {
      return Failure(Reason::kUnknown,
                     "failed to decode managed fields: " + managers.error().message);
    }
    managers_ = *std::move(managers);
    live_document_ = codec::ToDocument(live_, message_);
    codec::EraseAt(live_document_, {"metadata", "managedFields"});
    if (managers_.empty()) {
      FieldWrite first = write_;
      first.manager = kBeforeFirstApply;
      RecordChange(managers_, first, Compare(codec::Object(), live_, message_, {.skip = Reset()}));
    }
    FitManagers(managers_, write_.kind);
    return std::nullopt;
  }

  std::span<const std::string_view> Reset() const {
    return ResetFields(write_.kind, write_.subresource);
  }

  FieldSet AppliedFields() const {
    std::vector<std::vector<PathElement>> paths;
    for (const std::string_view name : Reset()) paths.push_back({PathElement::Field(name)});
    return FieldsOf(config_document_, message_).RecursiveDifference(FieldSet::Of(paths));
  }

  FieldSet OwnedFields(const Managers& managers) const {
    std::vector<FieldSet> owned;
    for (const auto& [id, manager] : managers) {
      if (IsOfVersion(manager, write_.kind)) owned.push_back(manager.fields);
    }
    return FieldSet::UnionOf(std::move(owned));
  }

  Outcome Attempt(bool force) const {
    Outcome outcome{.managers = managers_};
    Manager applier{.name = std::string(NameOf(write_)),
                    .applies = true,
                    .api_version = std::string(write_.kind.api_version),
                    .subresource = std::string(write_.subresource),
                    .fields = AppliedFields()};
    const std::string id = ManagerId(applier);
    Manager& present = outcome.managers[id];
    const FieldSet last = IsOfVersion(present, write_.kind) ? present.fields : FieldSet();
    applier.time = present.time;
    present = std::move(applier);

    outcome.document = MergeDocuments(live_document_, config_document_, message_);
    if (!last.Difference(present.fields).Empty()) {
      outcome.document = Prune(outcome.document, last, OwnedFields(outcome.managers), message_);
    }
    const Comparison comparison = Compare(live_document_, outcome.document, message_,
                                          {.layout = Layout::kDocument, .skip = Reset()});
    const ComparisonIndex index(comparison);
    for (auto& [other, manager] : outcome.managers) {
      if (other == id || !IsOfVersion(manager, write_.kind)) continue;
      if (!force && index.changed.Intersects(manager.fields)) {
        AddConflicts(manager, index.changed.Inside(manager.fields), outcome.conflicts);
      }
      LoseFields(manager, index);
    }
    if (outcome.document != live_document_) present.time = codec::FormatTime(write_.now);
    present.fields = present.fields.Difference(UnownedFields());
    std::erase_if(outcome.managers, [](const auto& entry) { return entry.second.fields.Empty(); });
    return outcome;
  }

  base::Result<Value> Finish(const Outcome& outcome) const {
    Value object = live_;
    if (outcome.document != live_document_) {
      auto decoded = codec::DecodeValue(
          outcome.document.IsNull() ? Value(codec::Object()) : outcome.document, message_);
      if (!decoded) {
        return base::Fail(
            Reason::kUnknown,
            fmt::format(
                "failed to convert new object ({}) to proper version: unable to convert "
                "unstructured object to {}: {}",
                NameAndType(config_), TypeText(config_),
                RestoreFault(outcome.document, message_).value_or(decoded.error().message)));
      }
      object = std::move(decoded->object);
      codec::KeepUnknownFields(live_, object, message_);
    }
    codec::EraseAt(object, {"metadata", "managedFields"});
    if (write_.manager == kKubectl) UpdateLastApplied(object, config_);
    if (!outcome.managers.empty()) {
      codec::SetAt(object, {"metadata", "managedFields"}, WriteManagers(outcome.managers));
    }
    return object;
  }

  const FieldWrite& write_;
  const api::Message& message_;
  const Value& live_;
  const Value& config_;
  Value live_document_;
  Value config_document_;
  Managers managers_;
};

}  // namespace

base::Result<ApplyConfig> ReadApplyConfig(std::string_view text,
                                          codec::FieldValidation validation) {
  auto yaml = codec::ParseYaml(text);
  if (!yaml) {
    return base::Fail(Reason::kBadRequest, fmt::format("error decoding YAML: error converting YAML "
                                                       "to JSON: {}",
                                                       yaml.error().message));
  }
  ApplyConfig config{.document = std::move(yaml->value)};
  if (yaml->duplicates.empty() || validation == codec::FieldValidation::kIgnore) return config;
  for (const codec::DuplicateKey& duplicate : yaml->duplicates) {
    config.warnings.push_back(fmt::format("line {}: key {} already set in map", duplicate.line,
                                          base::GoQuoted(duplicate.key)));
  }
  if (validation == codec::FieldValidation::kStrict) {
    config.refusal =
        base::Error{.reason = Reason::kBadRequest,
                    .message = fmt::format("error strict decoding YAML: error converting YAML to "
                                           "JSON: yaml: unmarshal errors:\n  {}",
                                           fmt::join(config.warnings, "\n  "))};
  }
  return config;
}

base::Result<Value> Apply(const FieldWrite& write, const ApplyOptions& options, const Value& live,
                          const Value& config) {
  return Application(write, live, config).Run(options.force);
}

}  // namespace berth::merge
