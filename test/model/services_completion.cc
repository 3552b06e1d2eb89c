#include "model/services_completion.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace berth::model {
namespace {

using Texts = std::vector<std::string>;

bool IsBalancer(const Service& service) { return service.type == Type::kLoadBalancer; }

std::string Other(const std::string& family) { return family == "IPv6" ? "IPv4" : "IPv6"; }

bool Has(const Texts& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

void Default(Service& service, const Service* old, const registry::Gates& gates) {
  if (service.HasNodePorts() && service.traffic.empty()) service.traffic = "Cluster";
  if (IsBalancer(service) && !service.lb_ports) service.lb_ports = true;
  const bool known = gates.lb_node_ports || (old != nullptr && old->lb_ports);
  if (!known) service.lb_ports.reset();
}

/// Restores omitted numbers by the name of their port: first to unchanged ports, then to changed
/// ones unless another port has the number.
void CarryNumbers(Service& service, const Service& old) {
  std::set<int64_t> given;
  for (const Port& port : service.ports) given.insert(port.node);
  std::set<int64_t> back;
  for (const bool same : {true, false}) {
    for (Port& port : service.ports) {
      if (port.node != 0) continue;
      for (const Port& before : old.ports) {
        if (before.name != port.name || before.node == 0 || given.contains(before.node)) continue;
        const bool is_same = before.port == port.port && before.protocol == port.protocol;
        if (same ? !is_same : back.contains(before.node)) continue;
        port.node = before.node;
        back.insert(before.node);
      }
    }
  }
}

void Carry(Service& service, const Service& old) {
  const bool external = service.IsExternalName() || old.IsExternalName();
  if (!external && service.ips.empty()) service.ips = old.ips;
  if (service.NeedsNodePorts() && old.NeedsNodePorts()) CarryNumbers(service, old);
  if (service.NeedsHealth() && old.NeedsHealth() && service.health == 0) {
    service.health = old.health;
  }
}

/// Removes what does not fit the new type, if the client left it unchanged.
void Wipe(Service& service, const Service& old) {
  if (service.IsExternalName() && !old.IsExternalName()) {
    if (service.ips == old.ips) service.ips.clear();
    if (service.families == old.families) service.families.clear();
    if (service.policy == old.policy) service.policy.clear();
  }
  if (old.HasNodePorts() && !service.HasNodePorts()) {
    std::set<int64_t> had = {0};
    for (const Port& port : old.ports) had.insert(port.node);
    const bool untouched = std::ranges::all_of(
        service.ports, [&had](const Port& port) { return had.contains(port.node); });
    for (Port& port : service.ports) port.node = untouched ? 0 : port.node;
    if (service.traffic == old.traffic) service.traffic.clear();
  }
  if (old.NeedsHealth() && !service.NeedsHealth() && service.health == old.health) {
    service.health = 0;
  }
  if (IsBalancer(old) && !IsBalancer(service) && service.lb_ports == old.lb_ports) {
    service.lb_ports.reset();
  }
}

bool AddressesFit(const Service& service) {
  if (service.IsHeadless()) return true;
  if (Has(service.ips, "None")) return false;  // None must be the only entry.
  if (service.ips.size() == 2 && FamilyOf(service.ips[0]) == FamilyOf(service.ips[1])) return false;
  for (size_t i = 0; i < service.ips.size() && i < service.families.size(); ++i) {
    if (FamilyOf(service.ips[i]) != service.families[i]) return false;
  }
  return service.families.size() < 2 || service.families[0] != service.families[1];
}

/// Decides policy and families. Returns false if they are not valid.
class Families {
 public:
  Families(const Service* old, Texts configured) : old_(old), configured_(std::move(configured)) {
    if (old != nullptr && !old->IsExternalName() && (!old->IsHeadless() || old->selector)) {
      had_ = old->families;
    }
  }

  bool Decide(Service& service) const {
    if (service.IsExternalName()) return true;
    if (old_ != nullptr && KeepsAll(service)) return true;
    if (service.policy.empty() && old_ != nullptr) service.policy = old_->policy;
    const bool free = service.IsHeadless() && !service.selector;
    if (service.policy.empty()) service.policy = free ? "RequireDualStack" : "SingleStack";
    if (!AddressesFit(service)) return false;
    if (old_ != nullptr && !FitToOld(service)) return false;
    const bool single = service.policy == "SingleStack";
    if (single && (service.ips.size() == 2 || service.families.size() == 2)) return false;
    if (!service.IsHeadless() && !FamiliesOfAddresses(service)) return false;
    if (!free && !MayHave(service)) return false;
    if (service.families.empty()) service.families = {configured_.front()};
    const bool second = free || configured_.size() == 2 || had_.size() == 2;
    if (!single && service.families.size() == 1 && second) {
      service.families.push_back(Other(service.families[0]));
    }
    return true;
  }

 private:
  /// Returns whether all families are kept: with an unchanged PreferDualStack, and for a Service
  /// that is being deleted and does not ask for more.
  bool KeepsAll(Service& service) const {
    const bool same = service.ips == old_->ips && service.families == old_->families;
    const bool preferred = old_->policy.empty() || old_->policy == "PreferDualStack";
    if (service.policy == "PreferDualStack" && preferred && service.type == old_->type && same) {
      return true;
    }
    const auto leaves = [](const auto& now, const auto& before) {
      return now.empty() || now == before;
    };
    if (!old_->deleting || old_->IsExternalName() || !leaves(service.ips, old_->ips) ||
        !leaves(service.families, old_->families) || !leaves(service.policy, old_->policy)) {
      return false;
    }
    service.families = old_->families;
    service.policy = old_->policy;
    return true;
  }

  bool FitToOld(Service& service) const {
    if (service.policy == "SingleStack") {
      if (service.ips == old_->ips && service.ips.size() == 2) service.ips.pop_back();
      if (service.families == old_->families && service.families.size() == 2) {
        service.families.pop_back();
      }
      return true;
    }
    const auto lost = [](const Texts& now, const Texts& before) {
      return !now.empty() && now.size() < before.size();
    };
    return !lost(service.ips, old_->ips) && !lost(service.families, old_->families);
  }

  bool FamiliesOfAddresses(Service& service) const {
    for (size_t i = service.families.size(); i < service.ips.size(); ++i) {
      service.families.push_back(FamilyOf(service.ips[i]));
      if (!Has(configured_, service.families[i]) && !Has(had_, service.families[i])) return false;
    }
    return true;
  }

  bool MayHave(const Service& service) const {
    const bool two = configured_.size() == 2 || had_.size() == 2;
    if (service.policy == "RequireDualStack" && !two) return false;
    const auto all_in = [&service](const Texts& list) {
      return std::ranges::all_of(service.families,
                                 [&list](const std::string& one) { return Has(list, one); });
    };
    return all_in(had_) || all_in(configured_);
  }

  const Service* old_;
  const Texts configured_;
  Texts had_;
};

bool PortsAreValid(const Service& service) {
  std::set<std::string> names;
  std::set<std::pair<std::string, int64_t>> ports;
  std::set<std::pair<std::string, int64_t>> nodes;
  for (const Port& port : service.ports) {
    if (port.name.empty() && service.ports.size() > 1) return false;
    if (!port.name.empty() && !names.insert(port.name).second) return false;
    if (!ports.insert({port.protocol, port.port}).second) return false;
    if (port.node != 0 && !nodes.insert({port.protocol, port.node}).second) return false;
    if (port.node != 0 && service.type == Type::kClusterIp) return false;
  }
  return !service.ports.empty() || service.IsHeadless() || service.IsExternalName();
}

bool IsValid(const Service& service) {
  if (!PortsAreValid(service)) return false;
  if (service.IsHeadless() && service.HasNodePorts()) return false;
  if (service.IsExternalName()) {
    if (!service.ips.empty() || !service.families.empty() || !service.policy.empty()) return false;
  }
  if (service.lb_ports && !IsBalancer(service)) return false;
  if (!service.traffic.empty() && !service.HasNodePorts()) return false;
  return service.health == 0 || service.NeedsHealth();
}

/// Returns whether a list may change in this way: the first entry stays, and the second one is
/// added, or removed with SingleStack.
bool ListMayFollow(const Texts& now, const Texts& before, bool single) {
  if (now.size() == before.size()) return now == before;
  if (now.empty() || before.empty()) return before.empty();
  return now[0] == before[0] && (now.size() > 1 || single);
}

bool MayFollow(const Service& service, const Service& old) {
  if (service.NeedsHealth() && old.NeedsHealth() && service.health != old.health) return false;
  if (service.IsExternalName() || old.IsExternalName()) return true;
  const bool single = service.policy == "SingleStack";
  const bool both = service.IsHeadless() && old.IsHeadless();
  if (!both && !ListMayFollow(service.ips, old.ips, single)) return false;
  if (service.IsHeadless() || old.IsHeadless()) return true;
  return ListMayFollow(service.families, old.families, single);
}

}  // namespace

std::optional<Service> Complete(Service asked, const Service* old, const Texts& families,
                                const registry::Gates& gates) {
  Default(asked, old, gates);
  if (old != nullptr) {
    Carry(asked, *old);
    Wipe(asked, *old);
  }
  Texts configured = families;
  if (!gates.dual_stack && configured.size() > 1) configured.resize(1);
  if (!Families(old, std::move(configured)).Decide(asked)) return std::nullopt;
  if (!IsValid(asked)) return std::nullopt;
  if (old != nullptr && !MayFollow(asked, *old)) return std::nullopt;
  return asked;
}

bool AddsFinalizers(const Service& next, const Service& old) {
  return old.deleting && !std::ranges::includes(old.finalizers, next.finalizers);
}

bool TakesOwnAddress(const Service& next, const Service& old) {
  return old.HasAddresses() && old.ips.size() == 1 && next.ips.size() == 2 &&
         next.ips[1] == old.ips[0];
}

}  // namespace berth::model
