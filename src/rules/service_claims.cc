#include "rules/service_claims.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "rules/service.h"

namespace berth::rules {
namespace {

constexpr int64_t kMostPort = 65535;

/// Stands for the health check among service ports and their indexes. It sorts after all of them.
constexpr int64_t kHealthCheck = std::numeric_limits<int64_t>::max();
constexpr size_t kNoIndex = std::numeric_limits<size_t>::max();

/// A place for a number. Ordered by number, then by service port, then by position in the list.
struct Use {
  int64_t number;  // 0 means that it is to be chosen.
  int64_t service_port;
  size_t index;
  bool joined = false;  // It was 0, and became that of its service port.

  auto operator<=>(const Use&) const = default;
};

/// Returns the places where the Service has numbers or needs them, in the order of the list.
std::vector<Use> UsesOf(const codec::Value& service) {
  std::vector<Use> uses;
  if (HasNodePorts(service)) {
    const bool needed = NeedsNodePorts(service);
    const codec::Array& ports = ArrayAt(service, "spec", "ports");
    uses.reserve(ports.size() + 1);
    for (size_t i = 0; i < ports.size(); ++i) {
      const int64_t number = IntAt(ports[i], "nodePort");
      if (number != 0 || needed) uses.push_back({number, IntAt(ports[i], "port"), i});
    }
  }
  if (NeedsHealthCheck(service)) {
    uses.push_back({IntAt(service, "spec", "healthCheckNodePort"), kHealthCheck, kNoIndex});
  }
  return uses;
}

/// Returns the numbers that are set, in order.
std::vector<Use> SortedNumbers(const codec::Value& service) {
  std::vector<Use> uses = UsesOf(service);
  std::erase_if(uses, [](const Use& use) { return use.number == 0; });
  std::ranges::sort(uses);
  return uses;
}

bool HasNumber(std::span<const Use> sorted, int64_t number) {
  return std::ranges::binary_search(sorted, number, {}, &Use::number);
}

/// Returns the ports of `held` that `kept` lacks. Both are in order.
std::vector<uint16_t> PortsOf(std::span<const Use> held, std::span<const Use> kept) {
  std::vector<uint16_t> ports;
  for (const Use& use : held) {
    if (use.number < 1 || use.number > kMostPort || HasNumber(kept, use.number)) continue;
    const auto port = static_cast<uint16_t>(use.number);
    if (ports.empty() || ports.back() != port) ports.push_back(port);
  }
  return ports;
}

/// Cuts off the front of `rest` as far as its elements agree in one field.
std::span<Use> TakeRun(std::span<Use>& rest, int64_t Use::* field) {
  size_t length = 0;
  while (length < rest.size() && rest[length].*field == rest[0].*field) ++length;
  const std::span<Use> run = rest.first(length);
  rest = rest.subspan(length);
  return run;
}

/// Decides the node ports of one write. Protocols of one service port share a number; nothing else
/// does.
class PortRules {
 public:
  PortRules(const codec::Value& service, const codec::Value* old, ServiceClaims& claims)
      : uses_(UsesOf(service)), claims_(claims) {
    if (old != nullptr) old_ = SortedNumbers(*old);
  }

  void Run() {
    std::ranges::sort(uses_, {},
                      [](const Use& use) { return std::pair(use.service_port, use.index); });
    for (std::span<Use> rest = uses_; !rest.empty();) Share(TakeRun(rest, &Use::service_port));
    std::ranges::sort(uses_);
    for (std::span<Use> rest = uses_; !rest.empty();) Claim(TakeRun(rest, &Use::number));
    std::ranges::sort(claims_.ports, {}, [](const PortClaim& claim) {
      return std::pair(!claim.wanted, claim.IsHealthCheck() ? kNoIndex : claim.ports.front());
    });
    claims_.gives.ports = PortsOf(old_, uses_);
  }

 private:
  /// Returns whether several service ports used one number, which other servers allowed. Each of
  /// them keeps the number. But a further protocol must not join it, because it could conflict with
  /// itself there.
  bool WasSharedWidely(int64_t number) const {
    const auto had = std::ranges::equal_range(old_, number, {}, &Use::number);
    return !had.empty() && had.front().service_port != had.back().service_port;
  }

  /// Processes all uses of one service port: those without a number take the first given one.
  void Share(std::span<Use> uses) const {
    const auto given = std::ranges::find_if(
        uses, [this](const Use& use) { return use.number != 0 && !WasSharedWidely(use.number); });
    if (given == uses.end()) return;
    const int64_t number = given->number;
    for (Use& use : uses) {
      if (use.number != 0) continue;
      use.number = number;
      use.joined = true;
    }
  }

  /// Returns whether the number was used for the same service port before.
  bool Had(const Use& use) const {
    const auto key = [](const Use& one) { return std::pair(one.number, one.service_port); };
    return std::ranges::binary_search(old_, key(use), {}, key);
  }

  /// Processes all uses of one number. If several service ports use it, those that had it keep it,
  /// or else the first one gets it.
  void Claim(std::span<Use> uses) {
    const int64_t number = uses.front().number;
    const bool had = HasNumber(old_, number);
    const bool kept = std::ranges::any_of(uses, [this](const Use& use) { return Had(use); });
    const size_t first = std::ranges::min(uses, {}, &Use::index).index;
    while (!uses.empty()) {
      const std::span<Use> run = TakeRun(uses, &Use::service_port);
      const bool owns = number == 0 || (kept ? Had(run.front()) : run.front().index == first);
      if (owns && had) {
        Keep(run);
      } else {
        Add(run, !owns);
      }
    }
  }

  void Keep(std::span<const Use> run) {
    for (const Use& use : run) {
      if (use.joined) claims_.shared.push_back({use.index, use.number});
    }
  }

  void Add(std::span<const Use> run, bool taken) {
    PortClaim& claim = claims_.ports.emplace_back();
    if (run.front().number != 0) claim.wanted = run.front().number;
    claim.taken = taken;
    if (run.front().service_port == kHealthCheck) return;
    claim.ports.reserve(run.size());
    for (const Use& use : run) claim.ports.push_back(use.index);
  }

  std::vector<Use> uses_;
  std::vector<Use> old_;
  ServiceClaims& claims_;
};

bool HasAddresses(std::string_view type, std::string_view cluster_ip) {
  return type != "ExternalName" && cluster_ip != "None";
}

bool HasAddresses(const codec::Value& service) {
  return HasAddresses(ServiceType(service), StringAt(service, "spec", "clusterIP"));
}

void AddAddress(std::vector<ip::Addr>& addresses, std::string_view text) {
  const auto parsed = ip::ParseAddrLoose(text);
  if (parsed.has_value() && std::ranges::find(addresses, parsed->addr) == addresses.end()) {
    addresses.push_back(parsed->addr);
  }
}

std::vector<ip::Addr> AddressesOf(const HoldingFields& fields) {
  std::vector<ip::Addr> addresses;
  if (!HasAddresses(fields.type, fields.cluster_ip)) return addresses;
  for (const std::string_view address : fields.cluster_ips) AddAddress(addresses, address);
  // The oldest versions wrote only the singular field.
  if (fields.cluster_ips.empty()) AddAddress(addresses, fields.cluster_ip);
  return addresses;
}

/// Reads the fields that say which addresses a Service holds.
HoldingFields AddressFields(const codec::Value& service) {
  HoldingFields fields{.type = ServiceType(service),
                       .cluster_ip = StringAt(service, "spec", "clusterIP")};
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  fields.cluster_ips.reserve(ips.size());
  for (const codec::Value& ip : ips) fields.cluster_ips.push_back(Text(&ip));
  return fields;
}

std::vector<ip::Addr> AddressesOf(const codec::Value& service) {
  return AddressesOf(AddressFields(service));
}

ip::Family FamilyNamed(std::string_view text) {
  return text == ip::FamilyText(ip::Family::kV6) ? ip::Family::kV6 : ip::Family::kV4;
}

void ClaimAddresses(const codec::Value& service, std::span<const ip::Addr> had,
                    std::vector<AddressClaim>& claims) {
  if (!HasAddresses(service)) return;
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  const codec::Array& families = ArrayAt(service, "spec", "ipFamilies");
  for (size_t i = 0; i < std::max(ips.size(), families.size()); ++i) {
    const std::string_view text = i < ips.size() ? Text(&ips[i]) : std::string_view();
    if (text.empty()) {
      if (i < families.size()) claims.push_back({i, FamilyNamed(Text(&families[i])), {}});
      continue;
    }
    const auto parsed = ip::ParseAddrLoose(text);
    if (!parsed.has_value() || std::ranges::find(had, parsed->addr) != had.end()) continue;
    claims.push_back({i, parsed->addr.family(), parsed->addr});
  }
}

void SetNodePort(codec::Value& service, size_t port, int64_t number) {
  codec::Value* list = FindAt(service, "spec", "ports");
  codec::Array* ports = list == nullptr ? nullptr : list->AsArray();
  if (ports != nullptr && port < ports->size()) SetAt((*ports)[port], {"nodePort"}, number);
}

}  // namespace

Holdings HoldingsOf(const codec::Value& service) {
  HoldingFields fields = AddressFields(service);
  fields.external_traffic_policy = StringAt(service, "spec", "externalTrafficPolicy");
  fields.health_check_node_port = IntAt(service, "spec", "healthCheckNodePort");
  const codec::Array& ports = ArrayAt(service, "spec", "ports");
  fields.node_ports.reserve(ports.size());
  for (const codec::Value& port : ports) fields.node_ports.push_back(IntAt(port, "nodePort"));
  return HoldingsOf(fields);
}

Holdings HoldingsOf(const HoldingFields& fields) {
  Holdings holdings{.addresses = AddressesOf(fields), .ports = {}};
  const auto add = [&holdings](int64_t number) {
    if (number < 1 || number > kMostPort) return;
    holdings.ports.push_back(static_cast<uint16_t>(number));
  };
  if (HasNodePorts(fields.type)) std::ranges::for_each(fields.node_ports, add);
  if (NeedsHealthCheck(fields.type, fields.external_traffic_policy)) {
    add(fields.health_check_node_port);
  }
  std::ranges::sort(holdings.ports);
  const auto repeated = std::ranges::unique(holdings.ports);
  holdings.ports.erase(repeated.begin(), repeated.end());
  return holdings;
}

ServiceClaims ClaimsOf(const codec::Value& service, const codec::Value* old) {
  ServiceClaims claims;
  if (old == nullptr) {
    ClaimAddresses(service, {}, claims.addresses);
  } else {
    claims.gives.addresses = AddressesOf(*old);
    ClaimAddresses(service, claims.gives.addresses, claims.addresses);
    for (const ip::Addr& kept : AddressesOf(service)) std::erase(claims.gives.addresses, kept);
  }
  PortRules(service, old, claims).Run();
  return claims;
}

void ForgetHoldings(codec::Value& service) {
  if (HasAddresses(service)) {
    EraseAt(service, {"spec", "clusterIP"});
    EraseAt(service, {"spec", "clusterIPs"});
  }
  EraseAt(service, {"spec", "healthCheckNodePort"});
  codec::Value* list = FindAt(service, "spec", "ports");
  codec::Array* ports = list == nullptr ? nullptr : list->AsArray();
  if (ports == nullptr) return;
  for (codec::Value& port : *ports) EraseAt(port, {"nodePort"});
}

std::vector<PortPurpose> PurposesOf(const codec::Value& service) {
  std::vector<PortPurpose> purposes;
  for (const Use& use : SortedNumbers(service)) {
    if (use.number < 1 || use.number > kMostPort) continue;
    const auto number = static_cast<uint16_t>(use.number);
    if (purposes.empty() || purposes.back().number != number) {
      purposes.push_back({.number = number, .ports = {}});
    }
    if (use.index != kNoIndex) purposes.back().ports.push_back(use.index);
  }
  return purposes;
}

std::vector<std::string_view> NamedRanges(const codec::Value& service,
                                          std::string_view annotation) {
  std::vector<std::string_view> names;
  std::string_view rest = StringAt(service, "metadata", "annotations", annotation);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

codec::Array WantedClusterIps(const codec::Value& service) {
  codec::Array ips = ArrayAt(service, "spec", "clusterIPs");
  const size_t families = ArrayAt(service, "spec", "ipFamilies").size();
  if (ips.size() < families) ips.resize(families, "");
  return ips;
}

void FillClaims(codec::Value& service, const ServiceClaims& claims,
                std::span<const ip::Addr> addresses, std::span<const uint16_t> ports) {
  if (!claims.addresses.empty()) {
    codec::Array ips = WantedClusterIps(service);
    for (size_t i = 0; i < claims.addresses.size(); ++i) {
      const AddressClaim& claim = claims.addresses[i];
      if (!claim.wanted) ips[claim.position] = addresses[i].ToString();
    }
    SetAt(service, {"spec", "clusterIP"}, ips.front());
    SetAt(service, {"spec", "clusterIPs"}, std::move(ips));
  }
  for (size_t i = 0; i < claims.ports.size(); ++i) {
    for (const size_t port : claims.ports[i].ports) SetNodePort(service, port, ports[i]);
    if (claims.ports[i].IsHealthCheck()) {
      SetAt(service, {"spec", "healthCheckNodePort"}, ports[i]);
    }
  }
  for (const SharedPort& shared : claims.shared) SetNodePort(service, shared.port, shared.number);
}

}  // namespace berth::rules
