#include "model/services_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "model/services_completion.h"

namespace berth::model {
namespace {

/// What a request takes from the ranges, one claim after the other.
class Claims {
 public:
  Claims(const World& world, const Cluster& cluster, const Service* old)
      : world_(world), cluster_(cluster), old_(old) {
    if (old != nullptr) had_ = old->Held();
  }

  /// Fills in what is to be chosen; the errors if it cannot be.
  Classes Run(Service& service) {
    if (service.HasAddresses()) Addresses(service);
    if (errors_ != 0) return errors_;
    if (service.HasNodePorts()) {
      Share(service);
      Numbers(service);
    }
    Health(service);
    const Pool& pool = cluster_.At(PoolOf::kPorts);
    if (any_ + taken_ports_ > world_.Free(pool) && any_ > 0) errors_ |= kFull;
    return errors_;
  }

 private:
  void Addresses(Service& service) {
    service.ips.resize(std::max(service.ips.size(), service.families.size()));
    for (size_t i = 0; i < service.ips.size(); ++i) {
      const Pool& pool = cluster_.Of(service.families[i]);
      std::string& ip = service.ips[i];
      if (ip.empty()) {
        if (world_.Free(pool) == 0) errors_ |= kFull;
        ip = kAny;
      } else if (!had_.contains(ip)) {
        if (!pool.Has(ip)) {
          errors_ |= kOutside;
        } else if (world_.records.contains(ip)) {
          errors_ |= kTaken;
        }
      }
    }
  }

  /// Protocols of one service port have one number: the first that is given, or one that is chosen.
  void Share(Service& service) {
    if (!service.NeedsNodePorts()) return;
    std::map<int64_t, int64_t> numbers;
    for (const Port& port : service.ports) {
      if (port.node != 0) numbers.emplace(port.port, port.node);
    }
    for (Port& port : service.ports) {
      if (port.node != 0) continue;
      if (numbers.emplace(port.port, -port.port).second) ++any_;
      port.node = numbers[port.port];
    }
  }

  /// Whether the old Service had the number for that service port.
  bool HadFor(int64_t number, int64_t service_port) const {
    if (old_ == nullptr || !old_->HasNodePorts()) return false;
    return std::ranges::any_of(old_->ports, [&](const Port& port) {
      return port.node == number && port.port == service_port;
    });
  }

  /// A number belongs to one service port: one that had it, or else the first.
  void Numbers(const Service& service) {
    std::map<int64_t, std::set<int64_t>> users;
    for (const Port& port : service.ports) {
      if (port.node > 0) users[port.node].insert(port.port);
    }
    for (const auto& [number, service_ports] : users) {
      if (service_ports.size() > 1) errors_ |= kTaken;
      Number(number, kOutside, kTaken);
      used_.insert(number);
    }
  }

  void Number(int64_t number, Classes outside, Classes taken) {
    const std::string text = std::to_string(number);
    if (had_.contains(text)) return;
    if (!cluster_.At(PoolOf::kPorts).Has(text)) {
      errors_ |= outside;
    } else if (world_.records.contains(text)) {
      errors_ |= taken;
    } else {
      ++taken_ports_;
    }
  }

  void Health(Service& service) {
    if (!service.NeedsHealth()) return;
    if (service.health == 0) {
      service.health = kAnyHealth;
      ++any_;
    } else if (used_.contains(service.health)) {
      errors_ |= kHealth;
      // Whichever of the two had it keeps it.
      if (old_ != nullptr && old_->NeedsHealth() && old_->health == service.health) {
        errors_ |= kTaken;
      }
    } else {
      Number(service.health, kHealth, kHealth);
    }
  }

  const World& world_;
  const Cluster& cluster_;
  const Service* old_;
  std::set<std::string> had_;
  std::set<int64_t> used_;
  size_t any_ = 0;
  size_t taken_ports_ = 0;
  Classes errors_ = 0;
};

Verdict Refused(Classes why) { return {.classes = why}; }

Verdict Finish(Service next, const World& world, const Cluster& cluster, const Service* old) {
  const Classes errors = Claims(world, cluster, old).Run(next);
  if (errors != 0) return Refused(errors);
  return {.classes = kOk, .next = std::move(next)};
}

Verdict JudgeNew(const World& world, const Request& request, const Cluster& cluster,
                 const registry::Gates& gates, bool exists) {
  auto next = Complete(request.body, nullptr, cluster, gates);
  if (!next) return Refused(kInvalid);
  if (exists) return Refused(kExists);
  next->ingress = false;
  return Finish(*std::move(next), world, cluster, nullptr);
}

/// Through its status: only metadata and status count.
Verdict JudgeStatus(const Request& request, const Service& old) {
  Service next = old;
  next.finalizers = request.body.finalizers;
  next.label = request.body.label;
  next.ingress = request.body.ingress;
  if (AddsFinalizers(next, old)) return Refused(kInvalid);
  if (next.ingress && next.type != Type::kLoadBalancer) return Refused(kInvalid);
  if (next.deleting && next.finalizers.empty()) return {.classes = kOk};
  return {.classes = kOk, .next = std::move(next)};
}

Verdict JudgeChange(const World& world, const Request& request, const Cluster& cluster,
                    const registry::Gates& gates, const StoredService& stored) {
  const Service& old = stored.service;
  Service asked = request.body;
  const bool edits = request.verb == Verb::kPatch || request.verb == Verb::kApply;
  if (edits) {
    asked = old;
    asked.label = request.body.label;
    ApplyEdits(request.edits, asked);
  }
  if (request.version && *request.version != stored.revision) return Refused(kConflict);
  if (old.IsHollow() && old.families.empty()) return {.classes = ~kOther, .unsure = true};
  if (AddsFinalizers(asked, old)) return Refused(kInvalid);
  if (TakesOwnAddress(asked, old)) return Refused(kTaken | kInvalid);
  auto next = Complete(asked, &old, cluster, gates);
  if (!next) return Refused(kInvalid);
  next->uid = old.uid;
  next->deleting = old.deleting;
  next->ingress = old.ingress && next->type == Type::kLoadBalancer;
  if (next->deleting && next->finalizers.empty()) return {.classes = kOk};
  return Finish(*std::move(next), world, cluster, &old);
}

Verdict JudgeDelete(const Service& old) {
  if (old.finalizers.empty()) return {.classes = kOk};
  Service next = old;
  next.deleting = true;
  return {.classes = kOk, .next = std::move(next)};
}

Verdict JudgeService(const World& world, const Request& request, const Cluster& cluster,
                     const registry::Gates& gates) {
  const StoredService* stored = world.Find(request.name);
  const bool there = stored != nullptr;
  switch (request.verb) {
    case Verb::kCreate:
      return JudgeNew(world, request, cluster, gates, there);
    case Verb::kStatus:
      if (there) return JudgeStatus(request, stored->service);
      // That it is made, and without addresses and ports, is upstream's way; of what is written
      // into it only that it holds nothing is looked at.
      return {.classes = kOk | kInvalid, .unsure = true};
    case Verb::kDelete:
      return there ? JudgeDelete(stored->service) : Refused(kMissing);
    default:
      if (there) return JudgeChange(world, request, cluster, gates, *stored);
      if (request.verb == Verb::kPatch) return Refused(kMissing);
      return JudgeNew(world, request, cluster, gates, false);
  }
}

Verdict JudgeAddress(const World& world, const Request& request) {
  const auto record = world.records.find(request.name);
  const bool there = record != world.records.end();
  if (request.verb == Verb::kReserve) return Refused(there ? kExists : kOk);
  if (!there) return Refused(kMissing);
  const StoredService* parent = world.Find(record->second.name);
  const bool held = parent != nullptr && parent->service.Held().contains(request.name);
  return Refused(request.verb == Verb::kUnreserve && held ? kConflict : kOk);
}

}  // namespace

std::string ClassesText(Classes classes) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "ok",      "exists", "missing", "conflict", "invalid", "taken",
      "outside", "full",   "health",  "store",    "unknown", "other"};
  std::string text;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if ((classes >> i & 1U) == 0) continue;
    if (!text.empty()) text += " or ";
    text += kNames[i];
  }
  return text;
}

Verdict Judge(const World& world, const Request& request, const Cluster& cluster,
              const registry::Gates& gates) {
  return request.IsAboutService() ? JudgeService(world, request, cluster, gates)
                                  : JudgeAddress(world, request);
}

namespace {

bool IsFree(const std::string& value, const Pool& pool, const World& before) {
  return pool.Has(value) && !before.records.contains(value);
}

/// Puts the values that were chosen into what was expected; what is wrong with them.
std::string TakeOver(Service& expected, const Service& actual, const World& before,
                     const Cluster& cluster) {
  for (size_t i = 0; i < expected.ips.size(); ++i) {
    if (expected.ips[i] != kAny || i >= actual.ips.size()) continue;
    expected.ips[i] = actual.ips[i];
    if (!IsFree(actual.ips[i], cluster.Of(expected.families[i]), before)) {
      return actual.ips[i] + " was not free";
    }
  }
  std::map<int64_t, int64_t> chosen;
  std::set<int64_t> numbers;
  for (size_t i = 0; i < expected.ports.size() && i < actual.ports.size(); ++i) {
    int64_t& node = expected.ports[i].node;
    if (node >= 0) continue;
    const int64_t got = actual.ports[i].node;
    const auto [group, first] = chosen.emplace(node, got);
    if (first && !numbers.insert(got).second) return fmt::format("{} was chosen twice", got);
    if (!IsFree(std::to_string(got), cluster.At(PoolOf::kPorts), before)) {
      return fmt::format("{} was not free", got);
    }
    node = group->second;
  }
  if (expected.health == kAnyHealth) {
    expected.health = actual.health;
    const std::string text = std::to_string(actual.health);
    if (!IsFree(text, cluster.At(PoolOf::kPorts), before) || numbers.contains(actual.health)) {
      return text + " was not free";
    }
  }
  return "";
}

}  // namespace

std::string CheckExpected(const Service& expected, const Service& actual, const World& before,
                          const Cluster& cluster) {
  Service filled = expected;
  std::string wrong = TakeOver(filled, actual, before, cluster);
  if (!wrong.empty()) return wrong;
  if (filled.uid.empty()) filled.uid = actual.uid;
  if (filled == actual) return "";
  return fmt::format("expected {}, got {}", ToText(filled), ToText(actual));
}

}  // namespace berth::model
