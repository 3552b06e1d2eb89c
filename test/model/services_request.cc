#include "model/services_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ip/cidr.h"

namespace berth::model {
namespace {

using Kind = Edit::Kind;

constexpr std::string_view kVerbs[] = {"create",    "replace",  "patch",    "apply",     "status",
                                       "delete",    "reserve",  "touch",    "unreserve", "keep",
                                       "makeRange", "setRange", "dropRange"};
constexpr std::string_view kEdits[] = {
    "type", "traffic", "lbPorts",    "policy",   "loseIps", "loseSecond", "secondIp",
    "node", "addPort", "removePort", "moveNode", "health",  "finalizers"};
const std::vector<std::string> kProtocols = {"TCP", "UDP", "SCTP"};
const std::vector<std::string> kFinalizers = {"x.io/a", "x.io/b"};

void MovePort(Service& service, size_t from) {
  const size_t to = (from + 1) % service.ports.size();
  service.ports[to].node = service.ports[from].node;
  service.ports[from].node = 0;
}

/// Names the ports. Names must differ, and are required if there are several ports.
void NamePorts(Service& service) {
  for (size_t i = 0; i < service.ports.size(); ++i) {
    std::string& name = service.ports[i].name;
    if (name.empty() && service.ports.size() > 1) name = fmt::format("p{}", i);
  }
}

void ApplyEdit(const Edit& edit, Service& service) {
  const size_t place = service.ports.empty() ? 0 : edit.place % service.ports.size();
  switch (edit.kind) {
    case Kind::kType:
      service.type = edit.with.type;
      break;
    case Kind::kTraffic:
      service.traffic = edit.with.traffic;
      break;
    case Kind::kLbPorts:
      service.lb_ports = edit.with.lb_ports;
      break;
    case Kind::kPolicy:
      service.policy = edit.with.policy;
      break;
    case Kind::kLoseIps:
      service.ips.clear();
      break;
    case Kind::kLoseSecond:
      if (service.ips.size() == 2) service.ips.pop_back();
      if (service.families.size() == 2) service.families.pop_back();
      break;
    case Kind::kSecondIp:
      if (service.ips.size() == 1) service.ips.push_back(edit.with.ips[0]);
      break;
    case Kind::kNode:
      if (!service.ports.empty()) service.ports[place].node = edit.with.ports[0].node;
      break;
    case Kind::kAddPort:
      service.ports.push_back(edit.with.ports[0]);
      NamePorts(service);
      break;
    case Kind::kRemovePort:
      if (!service.ports.empty()) {
        service.ports.erase(service.ports.begin() + static_cast<ptrdiff_t>(place));
      }
      break;
    case Kind::kMoveNode:
      if (!service.ports.empty()) MovePort(service, place);
      break;
    case Kind::kHealth:
      service.health = edit.with.health;
      break;
    case Kind::kFinalizers:
      service.finalizers = edit.with.finalizers;
      break;
  }
}

}  // namespace

std::string ToText(const Request& request) {
  std::string text = fmt::format("#{} replica {}: {} {}", request.id, request.replica,
                                 kVerbs[static_cast<size_t>(request.verb)], request.name);
  if (request.dry_run) text += " (dry run)";
  if (request.version) text += fmt::format(" @{}", *request.version);
  if (!request.parent.empty()) text += " for " + request.parent;
  if (request.hold != 0) text += fmt::format(" {} seconds", request.hold);
  if (request.IsAboutRange()) text += ": " + ToText(request.range);
  const bool has_body = request.verb <= Verb::kStatus && request.verb != Verb::kPatch;
  if (has_body) text += ": " + ToText(request.body);
  for (const Edit& edit : request.edits) {
    text += fmt::format(" [{} {} {}]", kEdits[static_cast<size_t>(edit.kind)], edit.place,
                        ToText(edit.with));
  }
  return text;
}

void ApplyEdits(const std::vector<Edit>& edits, Service& service) {
  for (const Edit& edit : edits) ApplyEdit(edit, service);
}

Verb Requests::SomeVerb() {
  if (Percent(habits_.growth)) {
    static const std::vector<Verb> kMaking = {Verb::kCreate, Verb::kCreate,  Verb::kCreate,
                                              Verb::kCreate, Verb::kReplace, Verb::kApply,
                                              Verb::kReserve};
    return One(kMaking);
  }
  static const std::vector<Verb> kOtherVerbs = {
      Verb::kReplace, Verb::kReplace,   Verb::kPatch,    Verb::kPatch,  Verb::kPatch,
      Verb::kApply,   Verb::kStatus,    Verb::kDelete,   Verb::kDelete, Verb::kDelete,
      Verb::kTouch,   Verb::kUnreserve, Verb::kUnreserve};
  return One(kOtherVerbs);
}

Request Requests::Next(const World& now) {
  Request request;
  request.id = next_id_++;
  request.verb = SomeVerb();
  request.dry_run = Percent(habits_.dry_run);
  if (Percent(habits_.ranges)) return RangeRequest(std::move(request), now);
  if (Percent(habits_.kept)) return KeepRequest(std::move(request), now);
  if (!request.IsAboutService()) return RecordRequest(std::move(request), now);
  const bool makes = request.verb == Verb::kCreate;
  request.name = SomeName(now, Percent(makes ? 10 : 90));
  const StoredService* current = now.Find(request.name);
  request.body = current != nullptr && !makes && Percent(70) ? Replacement(current->service, now)
                                                             : SomeService(now);
  if (request.verb == Verb::kStatus) {
    DrawFinalizers(request.body);
    request.body.ingress = Percent(40);
  }
  request.body.label = Percent(90) ? std::to_string(request.id) : "same";
  const bool patches = request.verb == Verb::kPatch || request.verb == Verb::kApply;
  for (uint64_t i = patches ? 1 + Draw(3) : 0; i > 0; --i) request.edits.push_back(SomeEdit(now));
  if (request.verb == Verb::kReplace && current != nullptr && Percent(20)) {
    request.version = current->revision - static_cast<int64_t>(Draw(2));
    if (*request.version == 0) request.version.reset();
  }
  return request;
}

/// Makes a request that creates, changes or deletes an IPAddress through networking.k8s.io.
Request Requests::RecordRequest(Request request, const World& now) {
  request.name = SomeAddress(SomeFamily(now), now);
  const bool taken_one = request.verb != Verb::kReserve && !now.records.empty() && Percent(80);
  if (taken_one) {
    auto at = now.records.begin();
    std::advance(at, static_cast<ptrdiff_t>(Draw(now.records.size())));
    if (PoolOfValue(at->first) != PoolOf::kPorts) request.name = at->first;
  }
  if (request.verb == Verb::kReserve) request.parent = SomeName(now, Percent(50));
  return request;
}

std::string Requests::SomeFamily(const World& now) {
  const std::vector<std::string> families = now.cluster->Families();
  return families.empty() ? "IPv4" : One(families);
}

/// Returns mostly a value that is free, kept or cooling, because several requests may want it.
std::string Requests::SomeValue(PoolOf pool, const World& now) {
  const std::vector<RangePtr>& ranges = now.cluster->At(pool);
  std::string value;
  if (Percent(40)) {
    std::vector<std::string> wanted;
    for (const auto& [each, record] : now.records) {
      const bool any = record.state != Record::State::kAllocated && !record.by_hand;
      if (any && PoolOfValue(each) == pool) wanted.push_back(each);
    }
    if (!wanted.empty()) return One(wanted);
  }
  for (int tries = 0; tries < 3 && !ranges.empty(); ++tries) {
    const Range& range = *One(ranges);
    value = One(range.values());
    if (!now.IsHeld(value)) break;
  }
  return value;
}

std::string Requests::SomeName(const World& now, bool there) {
  if (!there && habits_.kept > 0 && Percent(20)) {  // A name that a value is kept for.
    for (const auto& [value, record] : now.records) {
      if (!record.reserved_for.empty() && Percent(30)) return record.reserved_for;
    }
  }
  if (!there || now.services.empty()) return fmt::format("s{}", Draw(habits_.names));
  auto at = now.services.begin();
  std::advance(at, static_cast<ptrdiff_t>(Draw(now.services.size())));
  return at->first;
}

/// Returns mostly an address of a range, taken or not, and sometimes one outside of all ranges.
std::string Requests::SomeAddress(const std::string& family, const World& now) {
  static const std::vector<std::string> kOutsideV4 = {"10.96.0.0", "10.97.0.1", "10.95.255.255"};
  static const std::vector<std::string> kOutsideV6 = {"fd00::", "fd00:1::1", "fd00::1:0"};
  if (Percent(8)) return One(family == "IPv6" ? kOutsideV6 : kOutsideV4);
  const PoolOf pool = PoolOfFamily(family);
  const std::vector<RangePtr>& ranges = now.cluster->At(pool);
  if (family == "IPv4" && !ranges.empty() && Percent(3)) {  // The last one is never given out.
    return ip::ParseCidr(One(ranges)->spec().text)->Last().ToString();
  }
  const std::string value = SomeValue(pool, now);
  return value.empty() ? kOutsideV4[1] : value;
}

int64_t Requests::SomeNumber(const World& now) {
  static const std::vector<int64_t> kOutsidePorts = {29999, 30060, 79, 65535};
  const std::string value = SomeValue(PoolOf::kPorts, now);
  return value.empty() || Percent(8) ? One(kOutsidePorts) : std::stoll(value);
}

void Requests::DrawFamilies(Service& service, const World& now) {
  static const std::vector<std::string> kPolicies = {"", "", "SingleStack", "PreferDualStack",
                                                     "RequireDualStack"};
  service.policy = One(kPolicies);
  if (Percent(25)) {
    service.families.push_back(Percent(90) ? SomeFamily(now) : "IPv6");
    if (Percent(30)) service.families.push_back(service.families[0] == "IPv6" ? "IPv4" : "IPv6");
  }
  const bool headless = service.type == Type::kClusterIp ? Percent(15) : Percent(2);
  if (headless) {
    service.ips = {"None"};
  } else if (Percent(habits_.given)) {
    const std::string first = service.families.empty() ? SomeFamily(now) : service.families[0];
    service.ips.push_back(SomeAddress(first, now));
    if (Percent(25)) {
      service.ips.push_back(
          SomeAddress(Percent(90) ? (first == "IPv6" ? "IPv4" : "IPv6") : first, now));
    }
  }
}

void Requests::DrawPorts(Service& service, const World& now) {
  const bool numbers = service.HasNodePorts() || Percent(3);
  const uint64_t count =
      service.ips.size() == 1 && service.ips[0] == "None" ? Draw(3) : 1 + Draw(3);
  for (uint64_t i = 0; i < count; ++i) {
    Port port{.port = static_cast<int64_t>(80 + Draw(3)), .protocol = One(kProtocols)};
    if (numbers) port.node = NumberOrNone(now);
    service.ports.push_back(std::move(port));
  }
  NamePorts(service);
}

void Requests::DrawFinalizers(Service& service) {
  service.finalizers.clear();
  if (Percent(habits_.finalizers)) service.finalizers.insert(One(kFinalizers));
  if (Percent(habits_.finalizers / 4)) service.finalizers.insert(One(kFinalizers));
}

Service Requests::SomeService(const World& now) {
  static const std::vector<Type> kTypes = {
      Type::kClusterIp,    Type::kClusterIp,    Type::kNodePort,    Type::kNodePort,
      Type::kLoadBalancer, Type::kLoadBalancer, Type::kExternalName};
  Service service{.type = One(kTypes), .selector = Percent(50)};
  const bool bare = service.IsExternalName() && Percent(95);
  if (!bare) DrawFamilies(service, now);
  DrawPorts(service, now);
  const bool balancer = service.type == Type::kLoadBalancer;
  if (balancer && Percent(50)) service.lb_ports = Percent(40);
  if (!balancer && Percent(2)) service.lb_ports = Percent(50);
  if (service.HasNodePorts() && Percent(40)) service.traffic = Percent(75) ? "Local" : "Cluster";
  const bool health = service.NeedsHealth() ? Percent(habits_.given) : Percent(1);
  if (health) {  // Often one that is taken, because few Services have one.
    service.health = 30000 + static_cast<int64_t>(Draw(26));
  }
  DrawFinalizers(service);
  return service;
}

/// Returns what a client that knows the Service sends: parts of it unchanged, others left out or
/// new.
Service Requests::Replacement(const Service& current, const World& now) {
  Service service = current;
  service.uid.clear();
  service.deleting = false;
  if (Percent(30)) service.ips.clear();
  if (Percent(30)) service.families.clear();
  if (Percent(30)) service.policy.clear();
  if (Percent(30)) service.lb_ports.reset();
  if (Percent(30)) service.health = 0;
  for (Port& port : service.ports) {
    if (Percent(40)) port.node = 0;
  }
  if (Percent(40)) DrawFinalizers(service);
  const std::vector<Edit> edits = {SomeEdit(now), SomeEdit(now)};
  if (Percent(70)) ApplyEdit(edits[0], service);
  if (Percent(40)) ApplyEdit(edits[1], service);
  return service;
}

Edit Requests::SomeEdit(const World& now) {
  Edit edit{.kind = static_cast<Kind>(Draw(13)), .place = Draw(4)};
  const Service other = SomeService(now);
  edit.with.type = other.type;
  edit.with.policy = other.policy;
  if (Percent(70)) edit.with.lb_ports = Percent(50);
  if (Percent(80)) edit.with.traffic = Percent(60) ? "Local" : "Cluster";
  edit.with.ips = {SomeAddress(SomeFamily(now), now)};
  edit.with.ports = {{.name = fmt::format("n{}", Draw(100)),
                      .port = static_cast<int64_t>(80 + Draw(6)),
                      .protocol = One(kProtocols),
                      .node = NumberOrNone(now)}};
  edit.with.health = NumberOrNone(now);
  DrawFinalizers(edit.with);
  return edit;
}

}  // namespace berth::model
