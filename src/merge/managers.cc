#include "merge/managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "codec/encode.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/new_fields.h"
#include "merge/typed.h"

namespace berth::merge {
namespace {

using codec::StringAt;
using codec::Value;

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";
constexpr std::string_view kFieldsType = "FieldsV1";
constexpr std::string_view kOldUpdates = "ancient-changes";

std::string_view OperationOf(const Manager& manager) { return manager.applies ? kApply : kUpdate; }

// Returns the time of a manager for sorting. A missing time counts as 1970.
// All times have one format.
std::string_view TimeOrder(const Manager& manager) {
  return manager.time.empty() ? std::string_view("1970-01-01T00:00:00Z") : manager.time;
}

base::Result<Manager> ReadManager(const Value& entry, size_t index) {
  const auto fail = [](std::string message) {
    return base::Fail(base::Reason::kBadRequest, std::move(message));
  };
  const std::string_view operation = StringAt(entry, "operation");
  if (operation != kApply && operation != kUpdate) {
    return fail("operation must be `Apply` or `Update`");
  }
  const std::string_view fields_type = StringAt(entry, "fieldsType");
  if (StringAt(entry, "apiVersion").empty()) return fail("apiVersion must not be empty");
  if (fields_type.empty()) {
    return fail(fmt::format("missing fieldsType in managed fields entry {}", index));
  }
  if (fields_type != kFieldsType) {
    return fail(fmt::format("invalid fieldsType {} in managed fields entry {}",
                            base::GoQuoted(fields_type), index));
  }
  const std::string_view text = StringAt(entry, "fieldsV1");
  auto fields = ReadFieldsV1(text.empty() ? "{}" : text);
  if (!fields) return fail("error decoding set: " + fields.error().message);
  return Manager{.name = std::string(StringAt(entry, "manager")),
                 .applies = operation == kApply,
                 .api_version = std::string(StringAt(entry, "apiVersion")),
                 .subresource = std::string(StringAt(entry, "subresource")),
                 .time = std::string(StringAt(entry, "time")),
                 .fields = *std::move(fields),
                 .fields_v1 = std::string(text)};
}

// Merges the oldest Update managers, into one per version, until there are few enough. They
// are merged into the `ancient-changes` of their version or, if there is no such manager yet,
// with the oldest of the version.
void MergeOldest(Managers& managers) {
  std::vector<Managers::iterator> updaters;
  for (auto at = managers.begin(); at != managers.end(); ++at) {
    if (!at->second.applies) updaters.push_back(at);
  }
  if (updaters.size() <= kMostUpdateManagers) return;
  size_t excess = updaters.size() - kMostUpdateManagers;
  std::stable_sort(updaters.begin(), updaters.end(), [](const auto& a, const auto& b) {
    return TimeOrder(a->second) < TimeOrder(b->second);
  });
  struct Part {
    Managers::iterator first;
    std::string id;  // Of the merged manager.
    Manager merged = {};
    std::vector<FieldSet> fields = {};  // Of all that are merged.
  };
  std::map<std::string, Part> parts;  // By version.
  for (const Managers::iterator& at : updaters) {
    if (excess == 0) break;
    Manager& oldest = at->second;
    Manager merged{.name = std::string(kOldUpdates), .api_version = oldest.api_version};
    std::string id = ManagerId(merged);
    const auto [found, is_first] =
        parts.try_emplace(oldest.api_version, Part{.first = at, .id = std::move(id)});
    Part& part = found->second;
    if (is_first || at->first == part.id) continue;
    part.fields.push_back(std::move(oldest.fields));
    merged.time = std::move(oldest.time);
    part.merged = std::move(merged);
    managers.erase(at);
    --excess;
  }
  for (auto& [version, part] : parts) {
    if (part.fields.empty()) continue;
    auto place = managers.find(part.id);
    if (place == managers.end()) place = part.first;
    part.fields.push_back(std::move(place->second.fields));
    managers.erase(place);
    part.merged.SetFields(FieldSet::UnionOf(std::move(part.fields)));
    managers[part.id] = std::move(part.merged);
  }
}

}  // namespace

// Members are in the order of the message, and empty ones are left out, so the result is canonical.
Value WriteManager(Manager manager) {
  std::vector<codec::Member> members;
  members.reserve(7);
  const auto add = [&](const char* name, std::string text) {
    if (!text.empty()) members.push_back({name, Value(std::move(text))});
  };
  if (manager.fields_v1.empty()) manager.fields_v1 = WriteFieldsV1(manager.fields);
  add("manager", std::move(manager.name));
  add("operation", std::string(OperationOf(manager)));
  add("apiVersion", std::move(manager.api_version));
  add("time", std::move(manager.time));
  add("fieldsType", std::string(kFieldsType));
  add("fieldsV1", std::move(manager.fields_v1));
  add("subresource", std::move(manager.subresource));
  return codec::Object::FromUnique(std::move(members));
}

std::string ManagerId(const Manager& manager) {
  std::string id = "{";
  const auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    if (id.size() > 1) id += ',';
    id.append("\"").append(name).append("\":");
    codec::AppendGoJsonString(id, text);
  };
  add("manager", manager.name);
  add("operation", OperationOf(manager));
  if (!manager.applies) add("apiVersion", manager.api_version);
  add("subresource", manager.subresource);
  return id += '}';
}

base::Result<Managers> ReadManagers(const codec::Array& entries) {
  Managers managers;
  for (size_t i = 0; i < entries.size(); ++i) {
    auto manager = ReadManager(entries[i], i);
    if (!manager) return tl::unexpected(manager.error());
    std::string id = ManagerId(*manager);
    managers.insert_or_assign(std::move(id), *std::move(manager));
  }
  return managers;
}

codec::Array WriteManagers(const Managers& managers) {
  std::vector<const Manager*> sorted;
  sorted.reserve(managers.size());
  for (const auto& [id, manager] : managers) sorted.push_back(&manager);
  const auto order = [](const Manager& m) {
    return std::tuple<bool, std::string_view, std::string_view, std::string_view, std::string_view>(
        !m.applies, TimeOrder(m), m.name, m.api_version, m.subresource);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const Manager* a, const Manager* b) { return order(*a) < order(*b); });
  codec::Array entries;
  entries.reserve(sorted.size());
  for (const Manager* manager : sorted) entries.push_back(WriteManager(*manager));
  return entries;
}

bool IsOfVersion(const Manager& manager, const api::Kind& kind) {
  return manager.api_version == kind.api_version;
}

void FitManagers(Managers& managers, const api::Kind& kind) {
  std::erase_if(managers, [&](const auto& entry) {
    const Manager& manager = entry.second;
    return !IsOfVersion(manager, kind) && api::FindKind(manager.api_version, kind.kind) == nullptr;
  });
  for (auto& [id, manager] : managers) {
    if (!IsOfVersion(manager, kind)) continue;
    auto fitting = WithAtomicFields(manager.fields, *kind.message);
    if (fitting) manager.SetFields(*std::move(fitting));
  }
}

const FieldSet& UnownedFields() {
  static const FieldSet set = [] {
    std::vector<std::vector<PathElement>> paths;
    for (const char* name : {"apiVersion", "kind", "metadata"}) {
      paths.push_back({PathElement::Field(name)});
    }
    for (const std::string_view name : kUnownedMetadata) {
      paths.push_back({PathElement::Field("metadata"), PathElement::Field(name)});
    }
    return FieldSet::Of(paths);
  }();
  return set;
}

std::string_view NameOf(const FieldWrite& write) {
  return write.manager.empty() ? std::string_view("unknown") : write.manager;
}

Manager WriterOf(const FieldWrite& write) {
  return {.name = std::string(NameOf(write)),
          .api_version = std::string(write.kind.api_version),
          .subresource = std::string(write.subresource),
          .time = codec::FormatTime(write.now)};
}

void LoseFields(Manager& manager, const ComparisonIndex& comparison) {
  for (const FieldIndex* lost : {&comparison.changed, &comparison.removed}) {
    if (lost->Intersects(manager.fields)) manager.SetFields(lost->Outside(manager.fields));
  }
}

void RecordChange(Managers& managers, const FieldWrite& write, const Comparison& comparison) {
  const ComparisonIndex index(comparison);
  for (auto& [id, manager] : managers) {
    if (IsOfVersion(manager, write.kind)) LoseFields(manager, index);
  }
  FieldSet taken = comparison.changed.Difference(UnownedFields());
  if (!taken.Empty()) {
    Manager writer = WriterOf(write);
    Manager& present = managers[ManagerId(writer)];
    writer.fields = present.fields.Empty() ? std::move(taken) : present.fields.Union(taken);
    present = std::move(writer);
  }
  std::erase_if(managers, [](const auto& entry) { return entry.second.fields.Empty(); });
  MergeOldest(managers);
}

}  // namespace berth::merge
