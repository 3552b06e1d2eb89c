#include "registry/range_world.h"

#include <fmt/format.h>

#include <utility>

#include "codec/read.h"
#include "ip/cidr.h"
#include "registry/deletion.h"
#include "registry/errors.h"
#include "registry/range_facts.h"
#include "registry/registry.h"
#include "rules/range_spec.h"

namespace berth::registry {
namespace {

using codec::Value;

bool IsPrimary(const Value& range) { return codec::BoolAt(range, "spec", "primary"); }

std::string_view RangeText(const Value& range) { return codec::StringAt(range, "spec", "range"); }

base::Error Invalid(const RangeEdit& edit, const char* field, Value value, std::string_view why) {
  rules::FieldErrors errors;
  errors.Invalid(rules::Path(field), std::move(value), why);
  return InvalidObject(errors, *edit.row->kind, edit.name);
}

/// What the server changes counts as a change of the spec, as if a person had made it.
void CountGeneration(Value& object) {
  const int64_t before = codec::IntAt(object, "metadata", "generation");
  codec::SetAt(object, {"metadata", "generation"}, before + 1);
}

}  // namespace

bool IsGoing(const RangeEdit& edit, const RecordRows& rows) {
  if (edit.next == nullptr) return true;
  if (edit.row == rows.service_cidrs || edit.old == nullptr) return false;
  return IsBeingDeleted(*edit.next) && !IsBeingDeleted(*edit.old);
}

Value IpRangeOf(std::string_view name, std::string_view cidr, bool primary) {
  codec::Object spec{{"range", cidr}};
  if (primary) spec.Set("primary", true);
  return codec::Object{{"metadata", codec::Object{{"name", name}, {"generation", 1}}},
                       {"spec", std::move(spec)}};
}

RangeWorld::RangeWorld(const RecordRows& rows, const Gates& gates, const state::Snapshot& picture)
    : rows_(rows) {
  for (const Row* row : {rows.ip_ranges, rows.service_cidrs, rows.node_port_ranges}) {
    for (auto at = picture.Seek(row->prefix); at.Valid(); at.Next()) {
      const state::ObjectPtr& stored = at.Get();
      auto object = Registry::Decode(*row, *stored);
      if (!object) continue;
      auto facts = RangeFactsOf(*row, *object, gates);
      objects_.emplace(stored->Key(), RangeObject{.row = row,
                                                  .stored = stored,
                                                  .object = *std::move(object),
                                                  .facts = std::move(facts)});
    }
  }
}

const RangeObject* RangeWorld::Find(const Row& row, std::string_view name) const {
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

base::Result<std::vector<Companion>> RangeWorld::CompanionsOf(const RangeEdit& edit) const {
  if (auto checked = CheckGoing(edit); !checked) return tl::unexpected(checked.error());
  if (auto checked = CheckPrimary(edit); !checked) return tl::unexpected(checked.error());
  std::vector<Companion> companions;
  if (edit.next == nullptr) return companions;
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
    if (edit.name != kDefaultServiceCidr) return {};
    return tl::unexpected(Forbidden(*edit.row->kind, edit.name,
                                    "its IPRanges are always there, and it goes with them"));
  }
  if (rules::IsWellKnownRange(edit.name)) {
    const bool addresses = edit.row == rows_.ip_ranges;
    return tl::unexpected(Forbidden(
        *edit.row->kind, edit.name,
        fmt::format("this range is always there{}; to let nothing new be taken from it, set "
                    "spec.disabled",
                    addresses ? fmt::format(" (it is the {} range of the ServiceCIDR \"{}\")",
                                            edit.name == rules::kIpv4RangeName ? "IPv4" : "IPv6",
                                            kDefaultServiceCidr)
                              : "")));
  }
  if (edit.row == rows_.ip_ranges && IsPrimary(*edit.old)) {
    return tl::unexpected(Forbidden(*edit.row->kind, edit.name,
                                    "it is the primary range; make another one primary first"));
  }
  return {};
}

base::Result<void> RangeWorld::CheckPrimary(const RangeEdit& edit) const {
  if (edit.row != rows_.ip_ranges || edit.next == nullptr) return {};
  const bool had = edit.old != nullptr && IsPrimary(*edit.old);
  if (!had && IsPrimary(*edit.next) && IsBeingDeleted(*edit.next)) {
    return tl::unexpected(
        Invalid(edit, "spec.primary", true, "a range that is being deleted cannot become it"));
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

/// A well-known range that gets other bounds is a new CIDR of the ServiceCIDR, which clients cannot
/// change themselves.
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
}

/// The IPRanges that the default ServiceCIDR needs and that are not there.
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

}  // namespace berth::registry
