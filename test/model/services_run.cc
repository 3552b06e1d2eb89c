#include "model/services_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/read.h"
#include "codec/storage.h"
#include "registry/records.h"
#include "store/blocking.h"

namespace berth::model {
namespace {

constexpr size_t kLogLines = 60;
constexpr int kMostRounds = 3000;

std::vector<store::EventPtr> Poll(store::Watch& watch) {
  auto batch = watch.Poll(10'000);
  return batch ? std::move(batch->events) : std::vector<store::EventPtr>();
}

}  // namespace

void Seen::Add(const Seen& other) {
  for (const auto& [each, count] : other.classes) classes[each] += count;
  requests += other.requests;
  commits += other.commits;
  dry_runs += other.dry_runs;
  taken += other.taken;
  given_back += other.given_back;
  spilled += other.spilled;
  overlapping += other.overlapping;
  restarts += other.restarts;
  faults += other.faults;
  conflicts += other.conflicts;
}

std::string Seen::ToText() const {
  std::string text = fmt::format(
      "{} requests, {} dry runs, {} commits, {} values taken ({} beyond the band), {} given back, "
      "{} answered from another world, {} conflicts, {} faults, {} restarts;",
      requests, dry_runs, commits, taken, spilled, given_back, overlapping, conflicts, faults,
      restarts);
  for (const auto& [each, count] : classes) {
    text += fmt::format(" {} {}", ClassesText(each), count);
  }
  return text;
}

Run::Run(const Scene& scene, uint64_t seed)
    : scene_(scene),
      seed_(seed),
      random_(seed),
      cluster_(scene.ranges),
      shared_(cluster_),
      requests_(cluster_, scene.habits, random_) {
  Prefill();
  watch_ = shared_.engine->StartWatch({.prefix = "/registry/"}, [] {});
  worlds_.push_back(std::make_shared<const World>(Apply(World(), Poll(*watch_), shared_.kinds)));
  for (const registry::Gates& gates : scene_.gates) {
    servers_.push_back(
        std::make_unique<Server>(shared_, gates, scene_.gates.size() == 1, random_.Next()));
  }
}

/// Those who still wait are told so, and that is noted here.
Run::~Run() {
  closing_ = true;
  servers_.clear();
}

void Run::Fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

void Run::Log(std::string line) {
  log_.push_back(std::move(line));
  if (log_.size() > kLogLines) log_.pop_front();
}

std::string Run::Go() {
  for (int i = 0; i < scene_.steps && failure_.empty(); ++i) {
    if (i % 60 == 0) requests_.SetGrowth(i / 60 % 2 == 0 ? scene_.habits.growth + 20 : 20);
    Step();
  }
  if (failure_.empty()) Drain();
  if (failure_.empty()) return "";
  std::string text = fmt::format("{}\nrepeat with BERTH_SEED={}; before it:\n", failure_, seed_);
  for (const std::string& line : log_) text += "  " + line + "\n";
  return text;
}

/// A part of the addresses is reserved by persons from the start, so that ranges are full soon.
void Run::Prefill() {
  const registry::Row& row = *shared_.kinds.FindRow(api::kIpAddressKind);
  for (const std::string& family : cluster_.ranges().families) {
    for (const std::string& value : cluster_.Of(family).values) {
      if (!Percent(scene_.filled)) continue;
      const codec::Value record =
          codec::Object{{"metadata", codec::Object{{"name", value}}},
                        {"spec", codec::Object{{"parentRef", codec::Object{{"resource", "services"},
                                                                           {"namespace", "shop"},
                                                                           {"name", "nobody"}}}}}};
      shared_.Put(row.prefix + value, codec::EncodeStored(record, *row.kind));
    }
  }
}

void Run::Step() {
  if (Draw(1000) < static_cast<uint64_t>(scene_.restarts)) return Restart(Draw(servers_.size()));
  if (Draw(1000) < static_cast<uint64_t>(scene_.lost)) return LosePast();
  if (open_.size() < scene_.in_flight && Percent(50)) {
    Submit();
    if (scene_.in_flight == 1) Drain();
    return;
  }
  Server& server = *servers_[Draw(servers_.size())];
  switch (Draw(12)) {
    case 0:
      return Drain();
    case 1:
      return shared_.clock.Advance(std::chrono::milliseconds(150));
    case 2:
      if (shared_.engine->Held() > 0) shared_.engine->Release(random_);
      return;
    case 3:
    case 4:
    case 5:
      server.Follower().Pump();
      return;
    case 6:
    case 7:
    case 8:
      if (const size_t replies = server.Engine().Replies(); replies > 0) {
        server.Engine().Reply(Draw(replies));
      }
      return;
    default:
      return SendSome(server);
  }
}

void Run::Submit() {
  auto open = std::make_shared<Open>();
  open->request = requests_.Next(Now());
  open->request.replica = Draw(servers_.size());
  open->floor = floor_;
  const int64_t shown = servers_[open->request.replica]->Follower().Current()->Revision();
  while (open->picture + 1 < worlds_.size() && worlds_[open->picture + 1]->revision <= shown) {
    ++open->picture;
  }
  const registry::Target target = TargetOf(open->request);
  open->key = shared_.resources.Key(target.served.row->resource, target.name_space, target.name);
  for (const OpenPtr& other : open_) {
    if (other->request.replica != open->request.replica) continue;
    ++other->rivals;
    ++open->rivals;
  }
  ++seen_.requests;
  Log(ToText(open->request));
  open_.push_back(open);
  Call(open);
}

registry::Target Run::TargetOf(const Request& request) const {
  if (request.IsAboutService()) {
    return {.served = *shared_.kinds.Find("", "v1", "services"),
            .name_space = "shop",
            .name = request.name};
  }
  return {.served = *shared_.kinds.Find("networking.k8s.io", "v1", "ipaddresses"),
          .name = request.name};
}

codec::Value Run::ObjectOf(const Request& request) const {
  codec::Value object = codec::Object{{"metadata", codec::Object{{"name", request.name}}}};
  if (!request.IsAboutService()) {
    codec::SetAt(
        object, {"spec", "parentRef"},
        codec::Object{{"resource", "services"}, {"namespace", "shop"}, {"name", request.parent}});
    return object;
  }
  codec::SetAt(object, {"metadata", "namespace"}, "shop");
  if (request.version) {
    codec::SetAt(object, {"metadata", "resourceVersion"}, std::to_string(*request.version));
  }
  WriteInto(object, request.body);
  return object;
}

registry::NextState Run::NextOf(const Request& request) const {
  const bool edits = request.verb == Verb::kPatch || request.verb == Verb::kApply;
  return [request, edits,
          sent = ObjectOf(request)](const codec::Value* current) -> base::Result<registry::Next> {
    if (request.verb == Verb::kTouch && current != nullptr) {
      codec::Value next = *current;
      codec::SetAt(next, {"metadata", "labels", "touched"}, std::to_string(request.id));
      return registry::Next{.object = std::move(next)};
    }
    if (!edits || current == nullptr) return registry::Next{.object = sent};
    Service service = FromValue(*current);
    service.label = request.body.label;
    ApplyEdits(request.edits, service);
    codec::Value next = *current;
    WriteInto(next, service);
    return registry::Next{.object = std::move(next)};
  };
}

void Run::Call(const OpenPtr& open) {
  const Request& request = open->request;
  registry::Registry& registry = servers_[request.replica]->Registry();
  const registry::CommonOptions options{.dry_run = request.dry_run, .manager = "model"};
  const auto done = [this, open](const Answer& answer) { OnAnswer(open, answer); };
  const registry::Target target = TargetOf(request);
  switch (request.verb) {
    case Verb::kCreate:
    case Verb::kReserve:
      return registry.Create(target, ObjectOf(request), options, done);
    case Verb::kDelete:
    case Verb::kUnreserve:
      return registry.Delete(target, {}, options, done);
    case Verb::kStatus:
      return registry.Update(target, {.door = registry::Door::kStatus}, NextOf(request), options,
                             done);
    case Verb::kReplace:
      return registry.Update(target, {}, NextOf(request), options, done);
    case Verb::kPatch:
    case Verb::kTouch:
      return registry.Update(target, {.way = registry::Way::kPatch}, NextOf(request), options,
                             done);
    case Verb::kApply:
      return registry.Update(target, {.way = registry::Way::kApply}, NextOf(request), options,
                             done);
  }
}

void Run::SendSome(Server& server) {
  const size_t commits = server.Engine().Commits();
  if (commits == 0) return;
  using store::Fault;
  static constexpr Fault kFaults[] = {Fault::kFail, Fault::kLoseReply, Fault::kLoseWrite,
                                      Fault::kHold};
  Send(server, Draw(commits), Percent(scene_.faults) ? kFaults[Draw(4)] : Fault::kNone);
}

/// One write of an object is with the store at a time, the first that came.
void Run::Send(Server& server, size_t place, store::Fault fault) {
  const store::Txn& txn = server.Engine().Waiting(place);
  const auto writes = [&txn](const std::string& key) {
    const auto puts = [&key](const store::Put& put) { return put.key == key; };
    return std::ranges::any_of(txn.puts, puts) ||
           std::ranges::find(txn.deletes, key) != txn.deletes.end();
  };
  OpenPtr found;
  for (const OpenPtr& open : open_) {
    if (servers_[open->request.replica].get() != &server || !writes(open->key)) continue;
    const bool better =
        !found || (open->request.IsAboutService() && !found->request.IsAboutService());
    if (better) found = open;
  }
  if (!found) return Fail("a transaction that nobody asked for");
  found->failed = fault == store::Fault::kFail;
  found->unknown =
      found->unknown || fault == store::Fault::kLoseReply || fault == store::Fault::kLoseWrite;
  if (fault != store::Fault::kNone) {
    ++seen_.faults;
    Log(fmt::format("    #{}: fault {}", found->request.id, static_cast<int>(fault)));
  }
  const std::vector<store::Put> puts = txn.puts;
  shared_.fault = fault;
  server.Engine().Send(place);
  const std::vector<store::EventPtr> events = Poll(*watch_);
  if (!events.empty()) return OnCommit(*found, events);
  if (fault == store::Fault::kNone) OnConflict(puts, *found);
}

/// A server alone never offers a value that a Service has; a person may be faster than it sees.
void Run::OnConflict(const std::vector<store::Put>& puts, const Open& open) {
  ++seen_.conflicts;
  for (const store::Put& put : puts) {
    const auto record = Now().records.find(put.key.substr(put.key.rfind('/') + 1));
    const bool taken = put.key != open.key && record != Now().records.end();
    if (servers_.size() > 1 || !taken || record->second.chosen.empty()) continue;
    Fail(record->first + " was offered while it was taken (" + ToText(open.request) + ")");
  }
}

/// The process is gone; of what it had sent the store may have got some.
void Run::Restart(size_t replica) {
  Server& server = *servers_[replica];
  for (size_t left = server.Engine().Commits(); left > 0; --left) {
    if (Percent(50)) Send(server, 0, store::Fault::kNone);
  }
  Log(fmt::format("    replica {} is started anew", replica));
  ++seen_.restarts;
  registry::Gates gates = server.Gates();
  if (scene_.switch_gates) {
    gates = {.static_ips = Percent(50),
             .static_ports = Percent(50),
             .lb_node_ports = Percent(50),
             .dual_stack = Percent(50)};
  }
  closing_ = true;
  servers_[replica].reset();
  closing_ = false;
  servers_[replica] =
      std::make_unique<Server>(shared_, gates, servers_.size() == 1, random_.Next());
  const std::string wrong = servers_[replica]->CheckIndexes(Now(), cluster_);
  if (!wrong.empty()) Fail("after a start: " + wrong);
}

/// Who has not read it yet must read the whole store again.
void Run::LosePast() {
  lost_past_ = true;
  Log("    the past is forgotten");
  const auto current = store::CurrentNow(*shared_.engine);
  if (current) store::CompactNow(*shared_.engine, *current);
}

bool Run::Progress() {
  bool any = false;
  while (shared_.engine->Held() > 0) any = shared_.engine->Release();
  for (const std::unique_ptr<Server>& server : servers_) {
    while (server->Engine().Commits() > 0 && failure_.empty()) {
      SendSome(*server);
      any = true;
    }
    while (server->Engine().Replies() > 0) {
      server->Engine().Reply(Draw(server->Engine().Replies()));
      any = true;
    }
    while (server->Follower().Pump()) any = true;
  }
  return any;
}

void Run::Drain() {
  for (int round = 0; round < kMostRounds && failure_.empty(); ++round) {
    if (Progress()) continue;
    if (open_.empty()) break;
    shared_.clock.Advance(std::chrono::milliseconds(250));
  }
  if (!failure_.empty()) return;
  if (!open_.empty()) return Fail("nobody answers " + ToText(open_.front()->request));
  for (const std::unique_ptr<Server>& server : servers_) {
    if (server->Sequencer().GetStats().waiting != 0) return Fail("somebody still waits");
    const std::string wrong = server->CheckIndexes(Now(), cluster_);
    if (!wrong.empty()) return Fail(wrong);
  }
}

}  // namespace berth::model
