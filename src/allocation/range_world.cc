#include "allocation/range_world.h"

#include <fmt/format.h>

#include <utility>

#include "allocation/range_facts.h"
#include "codec/read.h"
#include "ip/cidr.h"
#include "registry/deletion.h"
#include "registry/object_errors.h"
#include "registry/registry.h"
#include "rules/range_spec.h"
#include "rules/service_cidr.h"

namespace berth::allocation {
namespace {

using codec::Value;

bool IsPrimary(const Value& range) { return codec::BoolAt(range, "spec", "primary"); }

std::string_view RangeText(const Value& range) { return codec::StringAt(range, "spec", "range"); }

base::Error Invalid(const RangeEdit& edit, const char* field, Value value, std::string_view why) {
  rules::FieldErrors errors;
  errors.Invalid(rules::Path(field), std::move(value), why);
  return registry::InvalidObject(errors, *edit.row->kind, edit.name);
}

/// Increments the generation, since a change by the server is a change of the spec like any other.
void CountGeneration(Value& object) {
  const int64_t before = codec::IntAt(object, "metadata", "generation");
  codec::SetAt(object, {"metadata", "generation"}, before + 1);
}

}  // namespace

bool IsGoing(const RangeEdit& edit, const RecordRows& rows) {
  if (edit.next == nullptr) return true;
  if (edit.row == rows.service_cidrs || edit.old == nullptr) return false;
  return registry::IsBeingDeleted(*edit.next) && !registry::IsBeingDeleted(*edit.old);
}

Value IpRangeOf(std::string_view name, std::string_view cidr, bool primary) {
  codec::Object spec{{"range", cidr}};
  if (primary) spec.Set("primary", true);
  return codec::Object{{"metadata", codec::Object{{"name", name}, {"generation", 1}}},
                       {"spec", std::move(spec)}};
}

RangeWorld::RangeWorld(const RecordRows& rows, const registry::Gates& gates,
                       const state::Snapshot& snapshot)
    : rows_(rows) {
  for (const registry::Row* row : {rows.ip_ranges, rows.service_cidrs, rows.node_port_ranges}) {
    for (auto at = snapshot.Seek(row->prefix); at.Valid(); at.Next()) {
      const state::ObjectPtr& stored = at.Get();
      auto object = registry::Registry::Decode(*row, *stored);
      if (!object) continue;
      auto facts = RangeFactsOf(*row, *object, gates);
      objects_.emplace(stored->Key(), RangeObject{.row = row,
                                                  .stored = stored,
                                                  .object = *std::move(object),
                                                  .facts = std::move(facts)});
    }
  }
}

const RangeObject* RangeWorld::Find(const registry::Row& row, std::string_view name) const {
  const auto found = objects_.find(row.prefix + std::string(name));
  return found == objects_.end() ? nullptr : &found->second;
}

const RangeObject* RangeWorld::Primary() const {
  for (const auto& [key, object] : objects_) {
    if (object.row == rows_.ip_ranges && IsPrimary(object.object)) return &object;
  }
  return nullptr;
}

alloc::RangeObjects RangeWorld::Facts() const {
  alloc::RangeObjects facts;
  for (const auto& [key, object] : objects_) facts.emplace(key, object.facts);
  return facts;
}

std::vector<ip::Cidr> RangeWorld::FirstCidrs() const {
  std::vector<ip::Cidr> cidrs;
  for (const std::string_view name : {rules::kIpv4RangeName, rules::kIpv6RangeName}) {
    const RangeObject* range = Find(*rows_.ip_ranges, name);
    if (range == nullptr) continue;
    const auto cidr = ip::ParseCidr(RangeText(range->object));
    if (cidr) cidrs.insert(IsPrimary(range->object) ? cidrs.begin() : cidrs.end(), *cidr);
  }
  return cidrs;
}

base::Result<std::vector<Companion>> RangeWorld::CompanionsOf(const RangeEdit& edit) const {
  if (auto checked = CheckGoing(edit); !checked) return tl::unexpected(checked.error());
  if (auto checked = CheckPrimary(edit); !checked) return tl::unexpected(checked.error());
  std::vector<Companion> companions;
  if (edit.next == nullptr) return companions;
  if (edit.resets) return Reset(*edit.next);
  if (edit.row == rows_.ip_ranges) {
    MovePrimary(edit, companions);
    FollowRange(edit, companions);
  }
  if (edit.row == rows_.service_cidrs) FollowCidr(edit, companions);
  return companions;
}

base::Result<void> RangeWorld::CheckGoing(const RangeEdit& edit) const {
  if (!IsGoing(edit, rows_)) return {};
  if (edit.row == rows_.service_cidrs) {
    // The default one goes only if a client removes its finalizer. Its IPRanges keep the values,
    // and the server creates it again.
    if (edit.name != kDefaultServiceCidr || !FirstCidrs().empty()) return {};
    return tl::unexpected(
        registry::Conflict(*edit.row->kind, edit.name,
                           "its addresses have no other range, because its IPRanges do "
                           "not exist yet"));
  }
  if (rules::IsWellKnownRange(edit.name)) {
    const bool addresses = edit.row == rows_.ip_ranges;
    return tl::unexpected(Invalid(
        edit, "metadata.name", edit.name,
        fmt::format("this range is always there{}; to let nothing new be taken from it, set "
                    "spec.disabled",
                    addresses ? fmt::format(" (it is the {} range of the ServiceCIDR \"{}\")",
                                            edit.name == rules::kIpv4RangeName ? "IPv4" : "IPv6",
                                            kDefaultServiceCidr)
                              : "")));
  }
  if (edit.row == rows_.ip_ranges && IsPrimary(*edit.old)) {
    return tl::unexpected(registry::Conflict(
        *edit.row->kind, edit.name, "it is the primary range; make another one primary first"));
  }
  return {};
}

base::Result<void> RangeWorld::CheckPrimary(const RangeEdit& edit) const {
  if (edit.row != rows_.ip_ranges || edit.next == nullptr) return {};
  const bool had = edit.old != nullptr && IsPrimary(*edit.old);
  if (!had && IsPrimary(*edit.next) && registry::IsBeingDeleted(*edit.next)) {
    return tl::unexpected(
        Invalid(edit, "spec.primary", true, "a range that is being deleted cannot become primary"));
  }
  if (edit.old == nullptr || !IsPrimary(*edit.old) || IsPrimary(*edit.next)) return {};
  return tl::unexpected(Invalid(edit, "spec.primary", false,
                                "one range must be primary; set spec.primary of another one, which "
                                "takes it from this one"));
}

void RangeWorld::MovePrimary(const RangeEdit& edit, std::vector<Companion>& companions) const {
  if (!IsPrimary(*edit.next)) return;
  for (const auto& [key, other] : objects_) {
    if (other.row != rows_.ip_ranges || other.Name() == edit.name) continue;
    if (!IsPrimary(other.object)) continue;
    Companion& companion = companions.emplace_back(Companion{.row = other.row,
                                                             .name = std::string(other.Name()),
                                                             .revision = other.stored->Revision(),
                                                             .object = other.object});
    codec::EraseAt(companion.object, {"spec", "primary"});
    CountGeneration(companion.object);
  }
}

/// Adds the ServiceCIDR if a well-known range gets other bounds. Clients cannot change its CIDRs
/// themselves.
void RangeWorld::FollowRange(const RangeEdit& edit, std::vector<Companion>& companions) const {
  if (edit.name != rules::kIpv4RangeName && edit.name != rules::kIpv6RangeName) return;
  const RangeObject* cidr = Find(*rows_.service_cidrs, kDefaultServiceCidr);
  if (cidr == nullptr) return;
  const auto wanted = ip::ParseCidr(RangeText(*edit.next));
  if (!wanted) return;
  codec::Array cidrs;
  bool there = false;
  for (const Value& entry : codec::ArrayAt(cidr->object, "spec", "cidrs")) {
    const auto has = ip::ParseCidr(codec::Text(&entry));
    const bool same_family = has && has->family() == wanted->family();
    there = there || same_family;
    cidrs.emplace_back(same_family ? Value(wanted->ToString()) : entry);
  }
  if (!there) cidrs.emplace_back(wanted->ToString());
  if (cidrs == codec::ArrayAt(cidr->object, "spec", "cidrs")) return;
  Companion& companion = companions.emplace_back(Companion{.row = cidr->row,
                                                           .name = std::string(cidr->Name()),
                                                           .revision = cidr->stored->Revision(),
                                                           .object = cidr->object});
  codec::SetAt(companion.object, {"spec", "cidrs"}, std::move(cidrs));
  rules::PrepareServiceCidrUpdate(companion.object, cidr->object);  // Its condition follows too.
}

/// Adds the IPRanges that the default ServiceCIDR needs and that do not exist.
void RangeWorld::FollowCidr(const RangeEdit& edit, std::vector<Companion>& companions) const {
  if (edit.name != kDefaultServiceCidr) return;
  bool has_primary = Primary() != nullptr;
  for (const Value& entry : codec::ArrayAt(*edit.next, "spec", "cidrs")) {
    const auto cidr = ip::ParseCidr(codec::Text(&entry));
    if (!cidr) continue;
    const std::string_view name = rules::WellKnownRange(cidr->family());
    if (Find(*rows_.ip_ranges, name) != nullptr) continue;
    companions.push_back({.row = rows_.ip_ranges,
                          .name = std::string(name),
                          .object = IpRangeOf(name, cidr->ToString(), !has_primary)});
    has_primary = true;
  }
}

/// Returns the IPRanges that change so that the first ranges are those of the ServiceCIDR. A range
/// that moves loses what was said about its values. One that stays where it is keeps its rules. Its
/// first CIDR becomes primary.
std::vector<Companion> RangeWorld::Reset(const Value& cidr) const {
  std::vector<Companion> companions;
  std::map<std::string_view, std::string> wanted;
  std::string_view primary;
  for (const Value& entry : codec::ArrayAt(cidr, "spec", "cidrs")) {
    const auto parsed = ip::ParseCidr(codec::Text(&entry));
    if (!parsed) continue;
    const std::string_view name = rules::WellKnownRange(parsed->family());
    if (primary.empty()) primary = name;
    wanted[name] = parsed->ToString();
    if (Find(*rows_.ip_ranges, name) != nullptr) continue;
    companions.push_back({.row = rows_.ip_ranges,
                          .name = std::string(name),
                          .object = IpRangeOf(name, wanted[name], name == primary)});
  }
  for (const auto& [key, range] : objects_) {
    if (range.row != rows_.ip_ranges) continue;
    const bool first = rules::IsWellKnownRange(range.Name());
    const auto at = wanted.find(range.Name());
    Companion companion{.row = range.row,
                        .name = std::string(range.Name()),
                        .revision = range.stored->Revision(),
                        .object = range.object,
                        .goes = first && at == wanted.end()};
    Value& object = companion.object;
    if (first && !companion.goes) {
      codec::EraseAt(object, {"spec", "disabled"});
      if (RangeText(object) != at->second) {
        codec::EraseAt(object, {"spec", "excluded"});
        codec::EraseAt(object, {"spec", "staticBand"});
        codec::SetAt(object, {"spec", "range"}, at->second);
      }
    }
    if (range.Name() == primary) {
      codec::SetAt(object, {"spec", "primary"}, true);
    } else if (IsPrimary(object)) {
      codec::EraseAt(object, {"spec", "primary"});
    }
    if (!companion.goes && object == range.object) continue;
    CountGeneration(object);
    companions.push_back(std::move(companion));
  }
  return companions;
}

}  // namespace berth::allocation
