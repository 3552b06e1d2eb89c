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

/// Returns why a Service cannot get a value that it asks for, or 0 if it can.
Classes WhyNot(const World& world, const std::string& value, const std::string& name) {
  if (!world.cluster->Covers(value)) return kOutside;
  const Record* record = world.form.BitmapsCount() ? nullptr : world.RecordOf(value);
  if (record == nullptr ? world.IsHeld(value) : record->state == Record::State::kAllocated) {
    return kTaken;
  }
  const bool kept = record != nullptr && record->state != Record::State::kCooling;
  if (kept && (record->by_hand || record->reserved_for != name)) {
    return record->by_hand ? kTaken : kReserved;
  }
  return world.cluster->Gives(value) ? 0 : kNotGiven;
}

/// Takes what a request needs from the ranges, one claim after the other.
class Claims {
 public:
  Claims(const World& world, const std::string& name, const Settings& settings, const Service* old)
      : world_(world), name_(name), settings_(settings), old_(old) {
    if (old != nullptr) had_ = old->Held();
  }

  /// Fills in the values that are to be chosen. Returns the errors if that is not possible.
  Classes Run(Service& service) {
    if (service.HasAddresses()) Addresses(service);
    if (errors_ != 0) return errors_;
    if (service.HasNodePorts()) {
      Share(service);
      Numbers(service);
    }
    Health(service);
    if (any_ == 0) return errors_;
    // Values that are kept for the Service come first.
    std::set<std::string> kept = world_.KeptFor(name_, PoolOf::kPorts);
    for (const std::string& number : taken_ports_) kept.erase(number);
    const bool band = settings_.HasBand(PoolOf::kPorts);
    const auto pickable = std::ranges::count_if(
        taken_ports_, [&](const auto& number) { return world_.IsPickable(number, band); });
    const size_t needs = any_ - std::min(any_, kept.size()) + static_cast<size_t>(pickable);
    if (any_ > kept.size() && needs > world_.Pickable(PoolOf::kPorts, band)) errors_ |= kFull;
    return errors_;
  }

 private:
  void Addresses(Service& service) {
    service.ips.resize(std::max(service.ips.size(), service.families.size()));
    for (size_t i = 0; i < service.ips.size(); ++i) {
      std::string& ip = service.ips[i];
      if (ip.empty()) {
        const PoolOf pool = PoolOfFamily(service.families[i]);
        const bool any = !world_.KeptFor(name_, pool).empty() ||
                         world_.Pickable(pool, settings_.HasBand(pool)) > 0;
        if (!any) errors_ |= kFull;
        ip = kAny;
      } else if (!had_.contains(ip)) {
        errors_ |= WhyNot(world_, ip, name_);
      }
    }
  }

  /// Gives the protocols of one service port one number: the first given one, or a chosen one.
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

  /// Returns whether the old Service had the number for that service port.
  bool HadFor(int64_t number, int64_t service_port) const {
    if (old_ == nullptr || !old_->HasNodePorts()) return false;
    return std::ranges::any_of(old_->ports, [&](const Port& port) {
      return port.node == number && port.port == service_port;
    });
  }

  /// Assigns each number to one service port: one that had it before, or else the first.
  void Numbers(const Service& service) {
    std::map<int64_t, std::set<int64_t>> users;
    for (const Port& port : service.ports) {
      if (port.node > 0) users[port.node].insert(port.port);
    }
    for (const auto& [number, service_ports] : users) {
      if (service_ports.size() > 1) errors_ |= kTaken;
      Number(number, 0);
      used_.insert(number);
    }
  }

  /// Takes a number. `instead` replaces the error of the actual reason, unless it is 0.
  void Number(int64_t number, Classes instead) {
    const std::string text = std::to_string(number);
    if (had_.contains(text)) return;
    if (const Classes why = WhyNot(world_, text, name_)) {
      errors_ |= instead != 0 ? instead : why;
    } else {
      taken_ports_.insert(text);
    }
  }

  void Health(Service& service) {
    if (!service.NeedsHealth()) return;
    if (service.health == 0) {
      service.health = kAnyHealth;
      ++any_;
    } else if (used_.contains(service.health)) {
      errors_ |= kHealth;
      // Whichever of the two had the number keeps it.
      if (old_ != nullptr && old_->NeedsHealth() && old_->health == service.health) {
        errors_ |= kTaken;
      }
    } else {
      Number(service.health, kHealth);
    }
  }

  const World& world_;
  const std::string& name_;
  const Settings& settings_;
  const Service* old_;
  std::set<std::string> had_;
  std::set<int64_t> used_;
  size_t any_ = 0;
  std::set<std::string> taken_ports_;
  Classes errors_ = 0;
};

Verdict Refused(Classes why) { return {.classes = why}; }

Verdict Finish(Service next, const World& world, const Request& request, const Settings& settings,
               const Service* old) {
  const Classes errors = Claims(world, request.name, settings, old).Run(next);
  if (errors != 0) return Refused(errors);
  return {.classes = kOk, .next = std::move(next)};
}

Verdict JudgeNew(const World& world, const Request& request, const Settings& settings,
                 bool exists) {
  auto next = Complete(request.body, nullptr, settings.families, settings.gates);
  if (!next) return Refused(kInvalid);
  if (exists) return Refused(kExists);
  next->ingress = false;
  return Finish(*std::move(next), world, request, settings, nullptr);
}

/// Judges a write of the status, which changes only metadata and status.
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

Verdict JudgeChange(const World& world, const Request& request, const Settings& settings,
                    const StoredService& stored) {
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
  if (TakesOwnAddress(asked, old)) return Refused(kTaken | kInvalid);
  if (AddsFinalizers(asked, old)) return Refused(kInvalid);
  auto next = Complete(asked, &old, settings.families, settings.gates);
  if (!next) return Refused(kInvalid);
  next->uid = old.uid;
  next->deleting = old.deleting;
  next->ingress = old.ingress && next->type == Type::kLoadBalancer;
  if (next->deleting && next->finalizers.empty()) return {.classes = kOk};
  return Finish(*std::move(next), world, request, settings, &old);
}

Verdict JudgeDelete(const Service& old) {
  if (old.finalizers.empty()) return {.classes = kOk};
  Service next = old;
  next.deleting = true;
  return {.classes = kOk, .next = std::move(next)};
}

Verdict JudgeService(const World& world, const Request& request, const Settings& settings) {
  const StoredService* stored = world.Find(request.name);
  const bool there = stored != nullptr;
  const bool goes = request.verb == Verb::kDelete || request.verb == Verb::kStatus;
  // A cluster without any range is not modelled.
  if (settings.families.empty() && !goes) return {.classes = ~kOther, .unsure = true};
  switch (request.verb) {
    case Verb::kCreate:
      return JudgeNew(world, request, settings, there);
    case Verb::kStatus:
      if (there) return JudgeStatus(request, stored->service);
      // Kubernetes creates the Service without addresses and ports in this case. Of the contents,
      // the model only checks that it holds nothing.
      return {.classes = kOk | kInvalid, .unsure = true};
    case Verb::kDelete:
      return there ? JudgeDelete(stored->service) : Refused(kMissing);
    default:
      if (there) return JudgeChange(world, request, settings, *stored);
      if (request.verb == Verb::kPatch) return Refused(kMissing);
      return JudgeNew(world, request, settings, false);
  }
}

}  // namespace

std::string ClassesText(Classes classes) {
  static constexpr std::array<std::string_view, 16> kNames = {
      "ok",     "exists", "missing", "conflict", "invalid",   "taken",   "outside", "full",
      "health", "store",  "unknown", "reserved", "not given", "blocked", "refused", "other"};
  std::string text;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if ((classes >> i & 1U) == 0) continue;
    if (!text.empty()) text += " or ";
    text += kNames[i];
  }
  return text;
}

Verdict Judge(const World& world, const Request& request, const Settings& settings) {
  if (request.IsAboutService()) return JudgeService(world, request, settings);
  return request.IsAboutRange() ? JudgeRange(world, request)
                                : JudgeRecord(world, request, settings);
}

namespace {

/// Puts the chosen values into the expected Service, and checks them.
class TakeOver {
 public:
  TakeOver(const std::string& name, const World& before, const Settings& settings)
      : name_(name), before_(before), settings_(settings) {}

  std::string Run(Service& expected, const Service& actual) {
    for (size_t i = 0; i < expected.ips.size(); ++i) {
      if (expected.ips[i] != kAny || i >= actual.ips.size()) continue;
      expected.ips[i] = actual.ips[i];
      Choose(PoolOfFamily(expected.families[i]), actual.ips[i]);
    }
    std::map<int64_t, int64_t> chosen;
    for (size_t i = 0; i < expected.ports.size() && i < actual.ports.size(); ++i) {
      int64_t& node = expected.ports[i].node;
      if (node >= 0) continue;
      const auto [group, first] = chosen.emplace(node, actual.ports[i].node);
      if (first) Choose(PoolOf::kPorts, std::to_string(group->second));
      node = group->second;
    }
    if (expected.health == kAnyHealth) {
      expected.health = actual.health;
      Choose(PoolOf::kPorts, std::to_string(actual.health));
    }
    return CheckKept(expected);
  }

 private:
  void Choose(PoolOf pool, const std::string& value) {
    const bool mine = before_.KeptFor(name_, pool).contains(value);
    if (PoolOfValue(value) != pool) wrong_ = value + " is of another kind";
    if (!mine && !before_.IsPickable(value, settings_.HasBand(pool))) {
      wrong_ = value + " was not free";
    }
    if (!chosen_.insert(value).second) wrong_ = value + " was chosen twice";
  }

  /// Checks that no value was picked while one was kept for the Service.
  std::string CheckKept(const Service& filled) {
    const std::set<std::string> held = filled.Held();
    for (const std::string& value : chosen_) {
      const std::set<std::string> kept = before_.KeptFor(name_, PoolOfValue(value));
      if (!settings_.knows_kept || kept.contains(value) || std::ranges::includes(held, kept))
        continue;
      wrong_ = value + " was drawn while others are kept for it";
    }
    return wrong_;
  }

  const std::string& name_;
  const World& before_;
  const Settings& settings_;
  std::set<std::string> chosen_;
  std::string wrong_;
};

}  // namespace

std::string CheckExpected(const Service& expected, const Service& actual, const std::string& name,
                          const World& before, const Settings& settings) {
  Service filled = expected;
  std::string wrong = TakeOver(name, before, settings).Run(filled, actual);
  if (!wrong.empty()) return wrong;
  if (filled.uid.empty()) filled.uid = actual.uid;
  if (filled == actual) return "";
  return fmt::format("expected {}, got {}", ToText(filled), ToText(actual));
}

}  // namespace berth::model
