#include "rules/allocated_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "ip/addr.h"
#include "rules/columns.h"
#include "rules/ip_address.h"
#include "rules/metadata.h"
#include "rules/record_notes.h"
#include "rules/reservation.h"

namespace berth::rules {
namespace {

using codec::Object;
using codec::Value;

constexpr base::U128 kMappedHigh = 0xFFFF;
constexpr std::string_view kNetworkingGroup = "networking.k8s.io";
constexpr std::string_view kServiceCidrKindName = "ServiceCIDR";
constexpr std::string_view kIpRangeField = "ipRangeRef";

/// Returns whether an address is written as IPv6 but is an IPv4 address to every reader.
bool IsMapped(const ip::Addr& addr) {
  return addr.family() == ip::Family::kV6 && addr.bits() >> 32 == kMappedHigh;
}

/// Returns the problem of a name, or "" if it is valid.
std::string NameProblem(std::string_view name) {
  const auto addr = ip::ParseDecimalName(name);
  if (addr) {
    return IsMapped(*addr) ? "must not be the number of an address of ::ffff:0:0/96, which is an "
                             "IPv4 address written as IPv6"
                           : "";
  }
  if (const auto number = NameOfAddress(name)) {
    return fmt::format("must be the address as a decimal number, which is \"{}\"", *number);
  }
  return addr.error().message;
}

void ValidateName(FieldErrors& errors, const Value& shown) {
  const Path path("metadata.name");
  const std::string_view name = StringAt(shown, "metadata", "name");
  if (!StringAt(shown, "metadata", "generateName").empty()) {
    errors.Forbidden(Path("metadata.generateName"),
                     "the name is the address as a decimal number, so none can be generated");
  }
  if (!name.empty()) {
    if (const std::string problem = NameProblem(name); !problem.empty()) {
      errors.Invalid(path, name, problem);
    }
    return;
  }
  const auto number = NameOfAddress(StringAt(shown, "spec", "address"));
  errors.Required(path, number
                            ? fmt::format("it is the address as a decimal number, \"{}\"", *number)
                            : "it is the address as a decimal number");
}

void ValidateAddress(FieldErrors& errors, const Value& shown) {
  const Path path("spec.address");
  const std::string_view text = StringAt(shown, "spec", "address");
  if (text.empty()) return;
  const auto addr = ip::ParseAddr(text);
  if (!addr) return errors.Invalid(path, text, addr.error().message);
  const std::string_view name = StringAt(shown, "metadata", "name");
  const auto named = AddressOfName(name);
  if (!named || *named == text) return;
  const auto number = NameOfAddress(text);
  errors.Invalid(
      path, text,
      number ? fmt::format("must be \"{}\", which the name \"{}\" stands for; the name of this "
                           "address is \"{}\"",
                           *named, name, *number)
             : fmt::format("must be \"{}\", which the name \"{}\" stands for; this address has no "
                           "name here, since it is one of ::/96",
                           *named, name));
}

/// Returns whether a field of `metadata` is equal in both objects, or absent in both.
bool SameAt(const Value& one, const Value& other, std::string_view field) {
  const Value* has = FindAt(one, "metadata", field);
  const Value* had = FindAt(other, "metadata", field);
  return has == nullptr || had == nullptr ? has == had : *has == *had;
}

/// Returns a reference with `namespace` and `name`.
Object ServiceOf(std::string_view name_space, std::string_view name) {
  return {{"namespace", name_space}, {"name", name}};
}

Object RangeReference(std::string_view range) {
  if (range.starts_with(kServiceCidrNote)) {
    return {{"apiGroup", kNetworkingGroup},
            {"kind", kServiceCidrKindName},
            {"name", range.substr(kServiceCidrNote.size())}};
  }
  return {{"apiGroup", kAllocationGroup}, {"kind", kIpRangeKindName}, {"name", range}};
}

/// Returns the type of the referenced range: an IPRange, unless the reference names a ServiceCIDR.
RangeTarget TargetOf(const Value& shown) {
  if (StringAt(shown, "spec", kIpRangeField, "kind") == kServiceCidrKindName) {
    return {.group = kNetworkingGroup, .kind = kServiceCidrKindName};
  }
  return {.group = kAllocationGroup, .kind = kIpRangeKindName};
}

/// Returns the note for the range that a reservation names.
std::string NamedRange(const Value& shown) {
  const std::string_view name = StringAt(shown, "spec", kIpRangeField, "name");
  const bool cidr = !name.empty() && TargetOf(shown).kind == kServiceCidrKindName;
  return fmt::format("{}{}", cidr ? kServiceCidrNote : "", name);
}

Object SpecOf(const Value& stored, const RecordNotes& notes) {
  Object spec{{"address", StringAt(stored, "metadata", "name")}};
  const std::string_view range =
      RangeOrDefault(StringAt(stored, "metadata", "name"), notes.state, notes.range);
  if (!range.empty()) {
    spec.Set(std::string(kIpRangeField), RangeReference(range));
  }
  if (!notes.reserved_for.empty()) {
    const std::string_view owner = notes.reserved_for;
    const size_t slash = std::min(owner.find('/'), owner.size());
    spec.Set("reservedFor",
             ServiceOf(owner.substr(0, slash), owner.substr(std::min(slash + 1, owner.size()))));
  }
  if (notes.hold_seconds != 0) spec.Set("holdSeconds", notes.hold_seconds);
  return spec;
}

Object StatusOf(const Value& stored, const RecordNotes& notes) {
  Object status{{"state", StateText(notes.state)}};
  if (notes.state == RecordState::kAllocated) {
    status.Set("chosen", notes.chosen == ChosenBy::kOwner ? "Static" : "Dynamic");
    if (const auto service = ParentService(stored)) {
      Object owner = ServiceOf(service->name_space, service->name);
      if (!notes.service_uid.empty()) owner.Set("uid", notes.service_uid);
      status.Set("service", std::move(owner));
    }
  }
  if (notes.since) {
    status.Set("since", codec::FormatTime(*notes.since));
  } else if (const Value* made = FindAt(stored, "metadata", "creationTimestamp")) {
    status.Set("since", *made);
  }
  if (notes.until) status.Set("until", codec::FormatTime(*notes.until));
  return status;
}

constexpr auto kAddressColumns = std::to_array<Column>({
    {.name = "Name",
     .format = "name",
     .description = "Name of the object: the address as a decimal number."},
    {.name = "Address", .description = "The address as text."},
    {.name = "State", .description = "Allocated, Reserved, Pending or Free."},
    {.name = "Service", .description = "The Service that has it, or that it is kept for."},
    {.name = "Range", .description = "The range it lies in."},
    kSinceColumn,
    {.name = "Chosen", .description = "Whether it was asked for or drawn.", .priority = 1},
    {.name = "Until", .description = "When the state ends by itself.", .priority = 1},
    kWideAgeColumn,
});

std::string OrNone(std::string_view text) { return std::string(text.empty() ? kNoneCell : text); }

}  // namespace

Value ParentRange(std::string_view range) {
  if (range.starts_with(kServiceCidrNote)) {
    return Object{{"group", kNetworkingGroup},
                  {"resource", "servicecidrs"},
                  {"name", range.substr(kServiceCidrNote.size())}};
  }
  return Object{{"group", kAllocationGroup}, {"resource", kIpRangesResource}, {"name", range}};
}

std::optional<std::string> AddressOfName(std::string_view name) {
  const auto addr = ip::ParseDecimalName(name);
  if (!addr || IsMapped(*addr)) return std::nullopt;
  return addr->ToString();
}

std::optional<std::string> NameOfAddress(std::string_view address) {
  const auto addr = ip::ParseAddr(address);
  return addr ? addr->DecimalName() : std::nullopt;
}

FieldErrors ValidateAllocatedAddress(const Value& shown) {
  FieldErrors errors;
  ValidateName(errors, shown);
  ValidateAddress(errors, shown);
  Value filled = shown;
  const RangeTarget target = TargetOf(shown);
  FillRangeReference(filled, kIpRangeField, target);
  ValidateRangeReference(errors, filled, kIpRangeField, target);
  ValidateReservation(errors, shown);
  return errors;
}

Value AllocatedAddressToStored(const Value& shown) {
  RecordNotes notes{.range = NamedRange(shown),
                    .hold_seconds = IntAt(shown, "spec", "holdSeconds")};
  if (notes.hold_seconds != 0) notes.state = RecordState::kPending;
  if (const Value* owner = FindAt(shown, "spec", "reservedFor")) {
    notes.reserved_for =
        fmt::format("{}/{}", StringAt(*owner, "namespace"), StringAt(*owner, "name"));
  }
  Value stored = Object{{"metadata", ObjectAt(shown, "metadata")},
                        {"spec", Object{{"parentRef", ParentRange(notes.range)}}}};
  if (auto address = AddressOfName(StringAt(shown, "metadata", "name"))) {
    SetAt(stored, {"metadata", "name"}, *std::move(address));
  }
  WriteNotes(stored, notes);
  return stored;
}

bool RepeatsAllocatedAddress(Value& next, const Value& old) {
  Value now = SpecOf(next, ReadNotes(next));
  const Value was = SpecOf(old, ReadNotes(old));
  // The server fills in the range, so that a manifest need not name it.
  if (!HasAt(now, kIpRangeField)) CopyAt(now, was, {kIpRangeField});
  if (now != was) return false;
  CopyAt(next, old, {"spec"});
  TakeInternalAnnotations(next);
  Value before = old;
  TakeInternalAnnotations(before);
  for (const std::string_view field : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    if (!SameAt(next, before, field)) return false;
  }
  return true;
}

Value AllocatedAddressFromStored(const Value& stored) {
  const RecordNotes notes = ReadNotes(stored);
  Value shown = Object{{"metadata", ObjectAt(stored, "metadata")},
                       {"spec", SpecOf(stored, notes)},
                       {"status", StatusOf(stored, notes)}};
  TakeInternalAnnotations(shown);
  if (auto name = NameOfAddress(StringAt(stored, "metadata", "name"))) {
    SetAt(shown, {"metadata", "name"}, *std::move(name));
  }
  return shown;
}

std::span<const Column> AllocatedAddressColumns() { return kAddressColumns; }

codec::Array AllocatedAddressCells(const Value& shown, base::WallTime now) {
  return {StringAt(shown, "metadata", "name"),
          StringAt(shown, "spec", "address"),
          StringAt(shown, "status", "state"),
          HolderCell(shown),
          OrNone(StringAt(shown, "spec", kIpRangeField, "name")),
          SinceCell(shown, now),
          OrNone(StringAt(shown, "status", "chosen")),
          OrNone(StringAt(shown, "status", "until")),
          AgeCell(shown, now)};
}

}  // namespace berth::rules
