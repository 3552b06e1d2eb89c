#include "berth/plan/used_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/go_text.h"
#include "berth/text.h"
#include "ip/addr.h"

namespace berth::cli {
namespace {

using codec::Value;

auto BadDocument(std::string message) {
  return base::Fail(base::Reason::kInvalid, std::move(message));
}

std::string_view TypeName(const Value& value) {
  switch (value.GetKind()) {
    case codec::Kind::kNull:
      return "null";
    case codec::Kind::kBool:
      return "a boolean";
    case codec::Kind::kInt:
    case codec::Kind::kUint:
    case codec::Kind::kDouble:
      return "a number";
    case codec::Kind::kString:
      return "a string";
    case codec::Kind::kArray:
      return "a list";
    case codec::Kind::kObject:
      break;
  }
  return "an object";
}

/// Returns null for a missing field and for null, which are the same to the API.
const Value* FindSet(const Value& object, std::string_view key) {
  const Value* found = object.Find(key);
  return found == nullptr || found->IsNull() ? nullptr : found;
}

std::string ChildPath(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

/// Reads one object. The first problem is kept, and reading continues with empty values, so that
/// the code need not check each field.
class ServiceReader {
 public:
  explicit ServiceReader(std::string where) : where_(std::move(where)) {}

  base::Result<std::vector<Use>> Read(const Value& service);

 private:
  void ReadOwner(const Value& service);
  void ReadAddresses(const Value& spec);
  void ReadPorts(const Value& spec);
  void AddAddress(std::string_view text, std::string_view path);
  void AddPort(const Value& object, std::string_view key, std::string_view path);
  void Add(ValueKind kind, U128 value);

  const Value* Object(const Value& parent, std::string_view key, std::string_view path);
  const codec::Array* List(const Value& parent, std::string_view key, std::string_view path);
  std::string_view String(const Value& parent, std::string_view key, std::string_view path);

  void Fail(std::string_view path, std::string_view what) {
    if (!problem_) problem_ = fmt::format("{}: {}: {}", where_, path, what);
  }
  void FailType(std::string_view path, std::string_view wanted, const Value& got) {
    Fail(path, fmt::format("must be {}, not {}", wanted, TypeName(got)));
  }

  std::string where_;
  std::string owner_;
  std::vector<Use> uses_;
  std::optional<std::string> problem_;
};

const Value* ServiceReader::Object(const Value& parent, std::string_view key,
                                   std::string_view path) {
  const Value* found = FindSet(parent, key);
  if (found == nullptr || found->AsObject() != nullptr) return found;
  FailType(ChildPath(path, key), "an object", *found);
  return nullptr;
}

const codec::Array* ServiceReader::List(const Value& parent, std::string_view key,
                                        std::string_view path) {
  const Value* found = FindSet(parent, key);
  if (found == nullptr) return nullptr;
  if (found->AsArray() == nullptr) FailType(ChildPath(path, key), "a list", *found);
  return found->AsArray();
}

std::string_view ServiceReader::String(const Value& parent, std::string_view key,
                                       std::string_view path) {
  const Value* found = FindSet(parent, key);
  if (found == nullptr) return {};
  if (const std::string* text = found->AsString()) return *text;
  FailType(ChildPath(path, key), "a string", *found);
  return {};
}

void ServiceReader::ReadOwner(const Value& service) {
  const Value* metadata = Object(service, "metadata", "");
  if (metadata == nullptr) return Fail("metadata.name", "is missing");
  const std::string_view name = String(*metadata, "name", "metadata");
  const std::string_view space = String(*metadata, "namespace", "metadata");
  if (name.empty()) return Fail("metadata.name", "is missing");
  owner_ = space.empty() ? std::string(name) : fmt::format("{}/{}", space, name);
  if (!problem_) where_ = "Service " + base::ToVisible(owner_);
}

void ServiceReader::Add(ValueKind kind, U128 value) {
  uses_.push_back({.kind = kind, .value = value, .owner = owner_});
}

void ServiceReader::AddAddress(std::string_view text, std::string_view path) {
  if (text.empty() || text == "None") return;
  // Stored objects may have addresses from before Kubernetes' strict rules, which it still accepts.
  const std::optional<ip::LooseAddr> loose = ip::ParseAddrLoose(text);
  if (!loose) return Fail(path, fmt::format("{} is not an IP address", base::GoQuoted(text)));
  const bool v4 = loose->addr.family() == ip::Family::kV4;
  Add(v4 ? ValueKind::kIpv4 : ValueKind::kIpv6, loose->addr.bits());
}

void ServiceReader::ReadAddresses(const Value& spec) {
  const codec::Array* addresses = List(spec, "clusterIPs", "spec");
  if (addresses == nullptr || addresses->empty()) {
    return AddAddress(String(spec, "clusterIP", "spec"), "spec.clusterIP");
  }
  for (size_t i = 0; i < addresses->size(); ++i) {
    const Value& address = (*addresses)[i];
    const std::string path = fmt::format("spec.clusterIPs[{}]", i);
    if (const std::string* text = address.AsString()) {
      AddAddress(*text, path);
    } else {
      FailType(path, "a string", address);
    }
  }
}

void ServiceReader::AddPort(const Value& object, std::string_view key, std::string_view path) {
  const Value* found = FindSet(object, key);
  if (found == nullptr) return;
  const std::string field = ChildPath(path, key);
  if (!found->AsDouble()) return FailType(field, "a number", *found);
  const std::optional<uint64_t> port = found->AsUint();
  if (!port || *port > 65535) return Fail(field, "must be a whole number from 0 to 65535");
  if (*port != 0) Add(ValueKind::kNodePort, *port);
}

void ServiceReader::ReadPorts(const Value& spec) {
  if (const codec::Array* ports = List(spec, "ports", "spec")) {
    for (size_t i = 0; i < ports->size(); ++i) {
      const Value& port = (*ports)[i];
      const std::string path = fmt::format("spec.ports[{}]", i);
      if (port.AsObject() == nullptr) return FailType(path, "an object", port);
      AddPort(port, "nodePort", path);
    }
  }
  AddPort(spec, "healthCheckNodePort", "spec");
}

base::Result<std::vector<Use>> ServiceReader::Read(const Value& service) {
  ReadOwner(service);
  const Value* spec = Object(service, "spec", "");
  if (spec != nullptr && String(*spec, "type", "spec") != "ExternalName") {
    ReadAddresses(*spec);
    ReadPorts(*spec);
  }
  if (problem_) return BadDocument(*std::move(problem_));
  // Ports of several protocols may share a number. That is one use.
  const auto key = [](const Use& use) { return std::pair(use.kind, use.value); };
  std::ranges::sort(uses_, {}, key);
  const auto repeated = std::ranges::unique(uses_, {}, key);
  uses_.erase(repeated.begin(), repeated.end());
  return std::move(uses_);
}

base::Result<void> AddService(const Value& item, const std::string& where, Used& used) {
  if (item.AsObject() == nullptr) {
    return BadDocument(fmt::format("{}: must be a Service, not {}", where, TypeName(item)));
  }
  // The items of a ServiceList from the API have no kind. Other API groups have a kind "Service",
  // too.
  for (const auto& [key, wanted] : {std::pair("kind", "Service"), std::pair("apiVersion", "v1")}) {
    const Value* found = FindSet(item, key);
    if (found == nullptr) continue;
    if (found->AsString() == nullptr) {
      return BadDocument(
          fmt::format("{}: {}: must be a string, not {}", where, key, TypeName(*found)));
    }
    if (*found->AsString() != wanted) {
      ++used.other_objects;
      return {};
    }
  }
  base::Result<std::vector<Use>> uses = ServiceReader(where).Read(item);
  if (!uses) return tl::unexpected(std::move(uses.error()));
  ++used.services;
  std::ranges::move(*uses, std::back_inserter(used.uses));
  return {};
}

base::Result<Used> ReadItems(const codec::Array& items, std::string_view list) {
  Used used{.format = UsedFormat::kServices};
  for (size_t i = 0; i < items.size(); ++i) {
    base::Result<void> added = AddService(items[i], fmt::format("{}[{}]", list, i), used);
    if (!added) return tl::unexpected(std::move(added.error()));
  }
  return used;
}

}  // namespace

base::Result<Used> ReadServices(const Value& document) {
  if (const codec::Array* array = document.AsArray()) return ReadItems(*array, "array");
  const Value* kind = FindSet(document, "kind");
  const std::string* kind_text = kind != nullptr ? kind->AsString() : nullptr;
  if (kind_text == nullptr) {
    return BadDocument("kind: must be \"List\", \"ServiceList\" or \"Service\"");
  }
  if (*kind_text == "Service") {
    Used used{.format = UsedFormat::kServices};
    base::Result<void> added = AddService(document, "the Service", used);
    if (!added) return tl::unexpected(std::move(added.error()));
    return used;
  }
  if (*kind_text != "List" && *kind_text != "ServiceList") {
    return BadDocument(fmt::format("contains a {}; use the output of `kubectl get svc -A -o json`",
                                   base::GoQuoted(*kind_text)));
  }
  const Value* items = FindSet(document, "items");
  if (items == nullptr) return Used{.format = UsedFormat::kServices};
  if (items->AsArray() == nullptr) {
    return BadDocument(fmt::format("items: must be a list, not {}", TypeName(*items)));
  }
  return ReadItems(*items->AsArray(), "items");
}

}  // namespace berth::cli
