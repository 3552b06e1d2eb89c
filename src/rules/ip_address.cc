#include "rules/ip_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "codec/read.h"
#include "ip/addr.h"
#include "rules/metadata.h"
#include "rules/names.h"
#include "rules/service_claims.h"

namespace berth::rules {
namespace {

/// No suffix is added to a generateName, so it must be an address too.
Problems NameIsAddress(std::string_view text, bool /*prefix*/) {
  const auto addr = ip::ParseAddr(text);
  return addr ? Problems() : Problems{addr.error().message};
}

/// Returns the parent as messages print it: with the field names of Kubernetes' struct.
codec::Value PrintedParent(const codec::Value& address) {
  const codec::Value* parent = FindAt(address, "spec", "parentRef");
  if (parent == nullptr) return nullptr;
  return codec::Object{{"Group", StringAt(*parent, "group")},
                       {"Resource", StringAt(*parent, "resource")},
                       {"Namespace", StringAt(*parent, "namespace")},
                       {"Name", StringAt(*parent, "name")}};
}

void ValidateParent(FieldErrors& errors, const codec::Value& address) {
  const Path path("spec.parentRef");
  const codec::Value* parent = FindAt(address, "spec", "parentRef");
  if (parent == nullptr) return errors.Required(path);
  if (const std::string_view group = StringAt(*parent, "group"); !group.empty()) {
    errors.InvalidEach(path.Child("group"), group, Dns1123SubdomainProblems(group));
  }
  for (const std::string_view field : {"resource", "name", "namespace"}) {
    const std::string_view text = StringAt(*parent, field);
    if (!text.empty()) {
      errors.InvalidEach(path.Child(field), text, PathSegmentProblems(text, false));
    } else if (field != "namespace") {
      errors.Required(path.Child(field));
    }
  }
}

}  // namespace

FieldErrors ValidateIpAddressCreate(const codec::Value& address) {
  FieldErrors errors =
      ValidateMetadata(address, Scope::kCluster, NameIsAddress, FinalizerRule::kCore);
  ValidateParent(errors, address);
  return errors;
}

FieldErrors ValidateIpAddressUpdate(const codec::Value& address, const codec::Value& old) {
  FieldErrors errors = ValidateIpAddressCreate(address);
  errors.Append(ValidateMetadataUpdate(address, old, FinalizerRule::kCore));
  codec::Value parent = PrintedParent(address);
  if (parent != PrintedParent(old)) {
    errors.Invalid(Path("spec.parentRef"), std::move(parent), "field is immutable");
  }
  return errors;
}

std::optional<ServiceName> ParentService(const codec::Value& address) {
  const codec::Value* parent = FindAt(address, "spec", "parentRef");
  if (parent == nullptr || !StringAt(*parent, "group").empty()) return std::nullopt;
  if (StringAt(*parent, "resource") != "services") return std::nullopt;
  const ServiceName service{.name_space = StringAt(*parent, "namespace"),
                            .name = StringAt(*parent, "name")};
  if (service.name_space.empty() || service.name.empty()) return std::nullopt;
  return service;
}

std::string ParentText(const codec::Value& address) {
  const codec::Value* parent = FindAt(address, "spec", "parentRef");
  if (parent == nullptr) return "<none>";
  std::string text = base::InLowerCase(StringAt(*parent, "resource"));
  if (const std::string_view group = StringAt(*parent, "group"); !group.empty()) {
    text += fmt::format(".{}", group);
  }
  if (const std::string_view space = StringAt(*parent, "namespace"); !space.empty()) {
    text += fmt::format("/{}", space);
  }
  return text + fmt::format("/{}", StringAt(*parent, "name"));
}

std::optional<ip::Addr> ReadAddressName(std::string_view name) {
  const auto address = ip::ParseAddrLoose(name);
  if (!address || address->leading_zeros || address->v4_mapped) return std::nullopt;
  return address->addr;
}

std::string AssumedNotes(const codec::Value& address) {
  const std::string_view manager = StringAt(address, "metadata", "labels", kManagedByLabel);
  if (manager != kAllocatorName || !ParentService(address)) return {};
  return HiddenOf({.state = RecordState::kAllocated, .chosen = ChosenBy::kAllocator});
}

bool HasClusterIp(const codec::Value& service, std::string_view address) {
  const auto wanted = ip::ParseAddrLoose(address);
  if (!wanted) return false;
  const std::vector<ip::Addr> held = HoldingsOf(service).addresses;
  return std::ranges::find(held, wanted->addr) != held.end();
}

std::string HeldByService(const codec::Value& service) {
  return fmt::format(
      "the Service \"{}/{}\" has this address; to free the address, delete the Service or change "
      "it so that it has another one or none",
      StringAt(service, "metadata", "namespace"), StringAt(service, "metadata", "name"));
}

}  // namespace berth::rules
