#include "inspect/cluster_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "api/kinds.h"
#include "audit/read.h"
#include "base/separators.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "inspect/assumed_ranges.h"
#include "inspect/named_fields.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "rules/ip_address.h"

namespace berth::inspect {
namespace {

using alloc::RangeKind;
using codec::StringAt;
using codec::Value;

std::optional<base::WallTime> TimeAt(const Value& object, std::string_view parent,
                                     std::string_view name) {
  const std::string_view text = StringAt(object, parent, name);
  return text.empty() ? std::nullopt : codec::ParseTime(text);
}

/// Returns the object that controls a Service, as "Kind name".
std::string ControllerOf(const Value& service) {
  for (const Value& owner : codec::ArrayAt(service, "metadata", "ownerReferences")) {
    if (!codec::BoolAt(owner, "controller")) continue;
    return fmt::format("{} {}", StringAt(owner, "kind"), StringAt(owner, "name"));
  }
  return {};
}

/// Returns the tool that deploys a Service, as far as labels and annotations tell.
std::string ToolOf(const Value& service) {
  const auto label = [&](std::string_view name) {
    return StringAt(service, "metadata", "labels", name);
  };
  const auto note = [&](std::string_view name) {
    return StringAt(service, "metadata", "annotations", name);
  };
  if (const auto release = note("meta.helm.sh/release-name"); !release.empty()) {
    return fmt::format("Helm release {}", release);
  }
  if (const auto app = label("argocd.argoproj.io/instance"); !app.empty()) {
    return fmt::format("Argo CD application {}", app);
  }
  if (!note("argocd.argoproj.io/tracking-id").empty()) return "Argo CD";
  if (const auto flux = label("kustomize.toolkit.fluxcd.io/name"); !flux.empty()) {
    return fmt::format("Flux kustomization {}", flux);
  }
  return std::string(label("app.kubernetes.io/managed-by"));
}

/// Returns the labels in one text, because a cluster has many of them. What cannot be a label is
/// left out, and so is what is too much.
std::string LabelsOf(const Value& service) {
  constexpr size_t kMostBytes = 4096;
  std::vector<std::string> labels;
  size_t bytes = 0;
  for (const codec::Member& label : codec::ObjectAt(service, "metadata", "labels")) {
    const std::string* value = label.value.AsString();
    const bool fits = value != nullptr && !label.key.empty() &&
                      label.key.find_first_of("=,") == std::string::npos &&
                      value->find(',') == std::string::npos;
    if (!fits) continue;
    bytes += label.key.size() + value->size() + 2;
    if (bytes > kMostBytes) break;
    labels.push_back(label.key + "=" + *value);
  }
  std::ranges::sort(labels);
  return fmt::format("{}", fmt::join(labels, ","));
}

std::string_view KindNameOf(RangeKind kind) {
  switch (kind) {
    case RangeKind::kIpRange:
      return "IPRange";
    case RangeKind::kServiceCidr:
      return "ServiceCIDR";
    case RangeKind::kNodePortRange:
      break;
  }
  return "NodePortRange";
}

/// Returns a range object with this content, so that given ranges are read as all others are.
Value RangeObject(RangeKind kind, std::string_view text) {
  Value object;
  codec::SetAt(object, {"metadata", "name"}, text);
  if (kind == RangeKind::kServiceCidr) {
    codec::SetAt(object, {"spec", "cidrs"}, codec::Array{Value(text)});
  } else {
    codec::SetAt(object, {"spec", "range"}, text);
  }
  return object;
}

/// Of neighbours that are the same object, keeps one. Returns how many were dropped.
template <typename Part>
size_t DropRepeats(std::vector<Part>& parts, bool (*is_same)(const Part&, const Part&),
                   int64_t (*revision_of)(const Part&)) {
  size_t kept = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (kept == 0 || !is_same(parts[kept - 1], parts[i])) {
      if (kept != i) parts[kept] = std::move(parts[i]);
      ++kept;
      continue;
    }
    const int64_t revision = revision_of(parts[i]);
    if (revision == 0 || revision >= revision_of(parts[kept - 1])) {
      parts[kept - 1] = std::move(parts[i]);
    }
  }
  const size_t dropped = parts.size() - kept;
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(kept), parts.end());
  return dropped;
}

bool IsSameService(const Service& a, const Service& b) {
  return !a.object.name.empty() && a.object.name == b.object.name &&
         a.object.name_space == b.object.name_space;
}

bool IsSameRecord(const Record& a, const Record& b) {
  return a.facts.value == b.facts.value && a.facts.object.resource == b.facts.object.resource &&
         a.facts.object.name == b.facts.object.name;
}

bool IsSameRange(const Range& a, const Range& b) {
  return !a.facts.object.name.empty() && a.facts.key == b.facts.key;
}

}  // namespace

ObjectType ItemTypeOf(const Value& list) {
  return ItemTypeOf(StringAt(list, "apiVersion"), StringAt(list, "kind"));
}

ObjectType ItemTypeOf(std::string_view list_version, std::string_view list_kind) {
  constexpr std::string_view kEnd = "List";
  if (!list_kind.ends_with(kEnd) || list_kind == kEnd) return {};
  return {.api_version = std::string(list_version),
          .kind = std::string(list_kind.substr(0, list_kind.size() - kEnd.size()))};
}

ClusterReader::ClusterReader(const ReaderOptions& options) {
  cluster_.source = options.source;
  cluster_.read_at = options.read_at;
}

void ClusterReader::AddService(const Value& service) {
  audit::ServiceFacts facts = audit::ReadService(service);
  Service& added = cluster_.services.emplace_back();
  added.object = std::move(facts.object);
  added.type = StringAt(service, "spec", "type");
  added.created = TimeAt(service, "metadata", "creationTimestamp");
  added.deleting = codec::HasAt(service, "metadata", "deletionTimestamp");
  added.controller = ControllerOf(service);
  added.tool = ToolOf(service);
  added.labels = LabelsOf(service);
  added.holds.reserve(facts.holds.size());
  for (audit::HeldValue& held : facts.holds) {
    added.holds.push_back(
        {.value = held.value, .health_check = held.health_check, .ports = std::move(held.ports)});
  }
  NamedFields(service).Describe(service, added);
}

void ClusterReader::AddRecord(std::optional<audit::RecordFacts> facts, const Value& object) {
  if (!facts) return;
  Record& record = cluster_.records.emplace_back();
  record.facts = *std::move(facts);
  record.since = TimeAt(object, "status", "since");
  if (!record.since) record.since = TimeAt(object, "metadata", "creationTimestamp");
  record.until = TimeAt(object, "status", "until");
  record.managed_by = StringAt(object, "metadata", "labels", rules::kManagedByLabel);
}

void ClusterReader::AddPlainAddress(const Value& address) {
  const size_t before = cluster_.records.size();
  AddRecord(audit::ReadPlainIpAddress(address), address);
  if (cluster_.records.size() == before) return;
  Record& record = cluster_.records.back();
  if (record.facts.state != rules::RecordState::kAllocated) {
    record.parent = rules::ParentText(address);
  }
}

void ClusterReader::AddStoredAddress(const Value& address, const rules::RecordNotes& notes) {
  const size_t before = cluster_.records.size();
  AddRecord(audit::ReadIpAddress(address, notes), address);
  if (cluster_.records.size() == before) return;
  Record& record = cluster_.records.back();
  if (notes.since) record.since = notes.since;
  record.until = notes.until;
}

void ClusterReader::AddAllocatedAddress(const Value& address) {
  AddRecord(audit::ReadAllocatedAddress(address), address);
}

void ClusterReader::AddNodePort(const Value& port) { AddRecord(audit::ReadNodePort(port), port); }

void ClusterReader::AddRange(RangeKind kind, const Value& range) {
  Range& added = cluster_.ranges.emplace_back();
  added.facts = audit::ReadRange(kind, range);
  added.facts.key = fmt::format("{}/{}", KindNameOf(kind), added.facts.object.name);
  added.source = fmt::format("{} {}", KindNameOf(kind), added.facts.object.name);
}

size_t ClusterReader::AddAny(const Value& object, const ObjectType& type) {
  if (const codec::Array* items = codec::FindAt(object, "items") == nullptr
                                      ? object.AsArray()
                                      : codec::FindAt(object, "items")->AsArray()) {
    const ObjectType of_items = ItemTypeOf(object);
    size_t used = 0;
    for (const Value& item : *items) used += AddAny(item, of_items);
    return used;
  }
  const bool named = !StringAt(object, "kind").empty();
  const std::string_view kind = named ? StringAt(object, "kind") : type.kind;
  const std::string_view version = named ? StringAt(object, "apiVersion") : type.api_version;
  const std::string_view group = version.substr(0, version.rfind('/'));
  const bool own = group == api::kIpRangeKind.group;
  if (kind == "Service" && version == "v1") {
    AddService(object);
  } else if (kind == "ServiceCIDR" && group == api::kServiceCidrKind.group) {
    AddRange(RangeKind::kServiceCidr, object);
  } else if (kind == "IPAddress" && group == api::kIpAddressKind.group) {
    AddPlainAddress(object);
  } else if (own && kind == api::kAllocatedAddressKind.kind) {
    AddAllocatedAddress(object);
  } else if (own && kind == api::kNodePortKind.kind) {
    AddNodePort(object);
  } else if (own && kind == api::kIpRangeKind.kind) {
    AddRange(RangeKind::kIpRange, object);
  } else if (own && kind == api::kNodePortRangeKind.kind) {
    AddRange(RangeKind::kNodePortRange, object);
  } else {
    return 0;
  }
  return 1;
}

base::Result<void> ClusterReader::AddGivenRange(std::string_view text, std::string_view source,
                                                bool exact) {
  std::string canonical;
  RangeKind kind = RangeKind::kServiceCidr;
  if (text.find('/') != std::string_view::npos) {
    const auto cidr = ip::ParseCidr(text);
    if (!cidr) return tl::unexpected(cidr.error());
    canonical = cidr->ToString();
  } else {
    const auto ports = ip::ParsePortRange(text);
    if (!ports) return tl::unexpected(ports.error());
    canonical = ports->ToString();
    kind = RangeKind::kNodePortRange;
  }
  AddRange(kind, RangeObject(kind, canonical));
  cluster_.ranges.back().source = source;
  cluster_.ranges.back().exact = exact;
  cluster_.ranges.back().given = true;
  return {};
}

void ClusterReader::AddGap(Gap gap) {
  if (std::ranges::find(cluster_.gaps, gap) == cluster_.gaps.end()) {
    cluster_.gaps.push_back(std::move(gap));
  }
}

void ClusterReader::Take(ClusterReader other) {
  const auto move_all = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_all(other.cluster_.services, cluster_.services);
  move_all(other.cluster_.records, cluster_.records);
  move_all(other.cluster_.ranges, cluster_.ranges);
}

audit::Keeps ClusterReader::KeepsByRecords() const {
  const auto is_port = [](const Record& record) {
    return record.facts.value.pool == alloc::PoolId::kPorts;
  };
  const bool ports = std::ranges::any_of(cluster_.records, is_port);
  const bool addresses = !std::ranges::all_of(cluster_.records, is_port);
  if (!addresses) return audit::Keeps::kNothing;
  return ports ? audit::Keeps::kRecords : audit::Keeps::kAddressesOnly;
}

Cluster ClusterReader::Finish() && {
  std::ranges::stable_sort(cluster_.services, {}, [](const Service& service) {
    return std::tie(service.object.name_space, service.object.name);
  });
  std::ranges::stable_sort(cluster_.records, {}, [](const Record& record) {
    return std::tie(record.facts.value.pool, record.facts.value.value, record.facts.object.name);
  });
  std::ranges::stable_sort(cluster_.ranges, {}, [](const Range& range) { return range.facts.key; });
  const size_t repeats =
      DropRepeats<Service>(cluster_.services, &IsSameService,
                           [](const Service& service) { return service.object.revision; }) +
      DropRepeats<Record>(cluster_.records, &IsSameRecord,
                          [](const Record& record) { return record.facts.object.revision; }) +
      DropRepeats<Range>(cluster_.ranges, &IsSameRange,
                         [](const Range& range) { return range.facts.object.revision; });
  if (repeats > 0) {
    AddGap({.what = repeats == 1 ? "1 object was given twice, and the newer one counts"
                                 : fmt::format("{} objects were given more than once, and the "
                                               "newest of each counts",
                                               base::WithSeparators(repeats))});
  }
  for (const AssumedRange& range : AssumeRanges(cluster_)) {
    // The texts are made from values, so they can be parsed.
    static_cast<void>(AddGivenRange(range.text, range.source, /*exact=*/false));
  }
  std::ranges::stable_sort(cluster_.ranges, {}, [](const Range& range) { return range.facts.key; });
  return std::move(cluster_);
}

}  // namespace berth::inspect
