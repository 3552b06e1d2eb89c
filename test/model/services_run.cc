#include "model/services_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "allocation/records.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "ip/addr.h"
#include "store/blocking.h"

namespace berth::model {
namespace {

constexpr size_t kLogLines = 60;
constexpr int kMostRounds = 3000;

constexpr auto kPatience = std::chrono::seconds(20);

/// Returns all events up to and including this revision. A real store may deliver them a little
/// later.
std::vector<store::EventPtr> Poll(store::Watch& watch, int64_t upto) {
  std::vector<store::EventPtr> events;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    const auto batch = watch.Poll(10'000);
    if (!batch) break;
    events.insert(events.end(), batch->events.begin(), batch->events.end());
    const bool all = upto == 0 || (!events.empty() && events.back()->revision.value >= upto);
    if (all) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < end);
  return events;
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
  merged += other.merged;
  ranges += other.ranges;
  smaller += other.smaller;
  kept_taken += other.kept_taken;
  kept_again += other.kept_again;
  cooled += other.cooled;
  expired += other.expired;
  switches += other.switches;
  found += other.found;
  audited += other.audited;
}

std::string Seen::ToText() const {
  std::string text = fmt::format(
      "{} requests, {} dry runs, {} commits, {} values taken ({} beyond the band), {} released, "
      "{} answered from another world, {} conflicts, {} faults, {} restarts; ranges changed {} "
      "times ({} smaller), {} kept values taken, {} kept again, {} cooled, {} expired; {} merged, "
      "{} switches, {} revisions audited, {} findings after damage;",
      requests, dry_runs, commits, taken, spilled, given_back, overlapping, conflicts, faults,
      restarts, ranges, smaller, kept_taken, kept_again, cooled, expired, merged, switches, audited,
      found);
  for (const auto& [each, count] : classes) {
    text += fmt::format(" {} {}", ClassesText(each), count);
  }
  return text;
}

Run::Run(const Scene& scene, uint64_t seed)
    : scene_(scene),
      seed_(seed),
      random_(seed),
      shared_(scene.ranges, scene.backend),
      requests_(scene.habits, random_) {
  // Times at the epoch are not written.
  shared_.clock.Advance(std::chrono::hours(24 * 365 * 50));
  if (scene_.bitmaps) {
    BeginWithBitmaps();
  } else {
    Prefill();
  }
  watch_ = shared_.At(0).Follow({}, [] {});
  worlds_.push_back(std::make_shared<const World>(
      Apply(World(), Poll(*watch_, shared_.last_put), shared_.kinds)));
  for (const registry::Gates& gates : scene_.gates) {
    servers_.push_back(NewServer(servers_.size(), gates));
  }
}

std::unique_ptr<Server> Run::NewServer(size_t replica, const registry::Gates& gates) {
  return std::make_unique<Server>(shared_, Server::Options{.gates = gates,
                                                           .replica = replica,
                                                           .alone = scene_.gates.size() == 1,
                                                           .seed = random_.Next()});
}

/// Requests that still wait are answered with an error, which the callbacks record here.
Run::~Run() {
  closing_ = true;
  follow_ups_.clear();
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
    if (failure_.empty()) Audit();
  }
  if (failure_.empty()) Drain();
  if (failure_.empty()) FinishSwitch();
  if (failure_.empty()) CheckAllEnds();
  if (failure_.empty() && scene_.damage > 0) CheckDamage();
  if (failure_.empty()) return "";
  std::string text = fmt::format("{}\nrepeat with BERTH_SEED={}; before it:\n", failure_, seed_);
  for (const std::string& line : log_) text += "  " + line + "\n";
  return text;
}

/// Reserves a part of the addresses at the start, as users do, so that ranges are soon full.
void Run::Prefill() {
  const registry::Row& row = *shared_.kinds.FindRow(api::kIpAddressKind);
  const Cluster cluster(scene_.ranges.ToSpecs());
  for (const PoolOf pool : {PoolOf::kIpv4, PoolOf::kIpv6}) {
    for (const std::string& value : cluster.Values(pool)) {
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
  if (!switching_ && Draw(1000) < static_cast<uint64_t>(scene_.switches)) {
    using allocation::AllocationForm;
    return SwitchForm(Draw(servers_.size()),
                      Percent(50) ? AllocationForm::kBitmaps : AllocationForm::kRecords, false);
  }
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
      if (shared_.memory && shared_.memory->Held() > 0) shared_.memory->Release(random_);
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
  open->key =
      shared_.resources.Key(target.served.row->resource, target.name_space, open->request.name);
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
  const auto find = [this](const char* group, const char* version, const char* plural) {
    return *shared_.kinds.Find(group, version, plural);
  };
  const auto berth = [&find](const char* plural) {
    return find("allocation.berth.io", "v1alpha1", plural);
  };
  if (request.IsAboutService()) {
    return {.served = find("", "v1", "services"), .name_space = "shop", .name = request.name};
  }
  if (request.IsAboutRange()) {
    return {.served = berth(request.range.pool == PoolOf::kPorts ? "nodeportranges" : "ipranges"),
            .name = request.name};
  }
  if (PoolOfValue(request.name) == PoolOf::kPorts) {
    return {.served = berth("nodeports"), .name = request.name};
  }
  if (request.verb != Verb::kKeep) {
    return {.served = find("networking.k8s.io", "v1", "ipaddresses"), .name = request.name};
  }
  return {.served = berth("ipaddresses"),
          .name = base::ToDecimal(ip::ParseAddr(request.name)->bits())};
}

codec::Value Run::ObjectOf(const Request& request) const {
  const registry::Target target = TargetOf(request);
  codec::Value object = codec::Object{{"metadata", codec::Object{{"name", target.name}}}};
  if (request.IsAboutService()) {
    codec::SetAt(object, {"metadata", "namespace"}, "shop");
    if (request.version) {
      codec::SetAt(object, {"metadata", "resourceVersion"}, std::to_string(*request.version));
    }
    WriteInto(object, request.body);
  } else if (request.IsAboutRange()) {
    object.Set("spec", SpecValue(request.range));
  } else if (request.verb != Verb::kKeep) {
    codec::SetAt(
        object, {"spec", "parentRef"},
        codec::Object{{"resource", "services"}, {"namespace", "shop"}, {"name", request.parent}});
  } else {
    codec::Object spec;
    if (!request.parent.empty()) {
      spec.Set("reservedFor", codec::Object{{"namespace", "shop"}, {"name", request.parent}});
    }
    if (request.hold != 0) spec.Set("holdSeconds", request.hold);
    object.Set("spec", std::move(spec));
  }
  return target.served.IsStoredForm() ? object : target.served.view->to_stored(object);
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
    if (request.IsAboutRange() && current != nullptr) {
      codec::Value next = *current;
      codec::SetAt(next, {"spec"}, SpecValue(request.range));
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
    case Verb::kKeep:
    case Verb::kMakeRange:
      return registry.Create(target, ObjectOf(request), options, done);
    case Verb::kDelete:
    case Verb::kUnreserve:
    case Verb::kDropRange:
      return registry.Delete(target, {}, options, done);
    case Verb::kStatus:
      return registry.Update(target, {.door = registry::Door::kStatus}, NextOf(request), options,
                             done);
    case Verb::kReplace:
      return registry.Update(target, {}, NextOf(request), options, done);
    case Verb::kPatch:
    case Verb::kTouch:
    case Verb::kSetRange:
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

/// One write of an object is with the store at a time, the first that came. The object of a write
/// is the first key that it compares. Writes of Services may share a transaction.
std::vector<Run::OpenPtr> Run::MembersOf(const Server& server, const store::Txn& txn) const {
  const auto writes = [&txn](const std::string& key) {
    const auto puts = [&key](const store::Put& put) { return put.key == key; };
    return std::ranges::any_of(txn.puts, puts) ||
           std::ranges::find(txn.deletes, key) != txn.deletes.end();
  };
  std::vector<OpenPtr> members;
  std::set<std::string> keys;
  for (const OpenPtr& open : open_) {
    if (servers_[open->request.replica].get() != &server || open->request.dry_run) continue;
    const bool is = txn.compares.front().key == open->key ||
                    (open->request.IsAboutService() && writes(open->key));
    if (is && keys.insert(open->key).second) members.push_back(open);
  }
  return members;
}

void Run::Send(Server& server, size_t place, store::Fault fault) {
  OnExpired();
  const store::Txn& txn = server.Engine().Waiting(place);
  const std::string about = txn.compares.front().key;
  const std::vector<OpenPtr> members = MembersOf(server, txn);
  const bool own = about.starts_with("/registry/berth.io/fence/") ||
                   about.starts_with("/registry/leases/") || about.starts_with("/registry/ranges/");
  if (members.empty() && !own) return Fail("an unexpected transaction: " + about);
  const bool unknown = fault == store::Fault::kLoseReply || fault == store::Fault::kLoseWrite;
  for (const OpenPtr& open : members) {
    // A request that shares a failed transaction may be retried alone, or be refused meanwhile.
    const bool fails = fault == store::Fault::kFail;
    open->failed = fails && members.size() == 1;
    open->shaken = open->shaken || (fails && members.size() > 1);
    open->unknown = open->unknown || unknown;
  }
  if (fault != store::Fault::kNone) {
    ++seen_.faults;
    Log(fmt::format("    {}: fault {}", about, static_cast<int>(fault)));
    for (const OpenPtr& open : open_) {
      open->shaken = open->shaken || (members.empty() && open->request.IsAboutRange());
    }
  }
  const std::vector<store::Put> puts = txn.puts;
  shared_.fault = fault;
  const int64_t written = server.Engine().Send(place);
  const std::vector<store::EventPtr> events = Poll(*watch_, written);
  if (!events.empty()) return OnCommit(members, events);
  if (fault != store::Fault::kNone) return;
  ++seen_.conflicts;
  if (members.size() == 1) OnConflict(puts, *members[0]);
}

/// Checks that a single server never offers a value that a Service has. A user may be faster than
/// the server can see.
void Run::OnConflict(const std::vector<store::Put>& puts, const Open& open) {
  for (const store::Put& put : puts) {
    const std::string value = put.key.substr(put.key.rfind('/') + 1);
    const Record* record = put.key == open.key ? nullptr : Now().RecordOf(value);
    if (servers_.size() > 1 || record == nullptr || !open.request.IsAboutService()) continue;
    if (record->state != Record::State::kAllocated || record->name == open.request.name) continue;
    Fail(value + " was offered while it was taken (" + ToText(open.request) + ")");
  }
}

/// Restarts a server. The store may have received some of the commits that it had sent.
void Run::Restart(size_t replica) {
  if (switching_ == replica) return;
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
  servers_[replica] = NewServer(replica, gates);
  if (scene_.backend != nullptr) CatchUp();
  OnExpired();
  const std::string wrong = servers_[replica]->CheckIndexes(Now());
  const bool at_rest = Now().closed.empty();
  if (!wrong.empty() && at_rest) Fail("after a start: " + wrong);
}

/// Compacts the store. A server that has not read the lost events must read the whole store again.
void Run::LosePast() {
  lost_past_ = true;
  Log("    the past is forgotten");
  const auto current = store::CurrentNow(shared_.At(0));
  if (current) store::CompactNow(shared_.At(0), *current);
}

bool Run::Progress() {
  bool any = false;
  OnExpired();
  while (shared_.memory && shared_.memory->Held() > 0) any = shared_.memory->Release();
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
    if (scene_.backend != nullptr) CatchUp();
    if (open_.empty() && Now().closed.empty() && !Progress()) break;
    shared_.clock.Advance(std::chrono::milliseconds(250));
    // Opens fences that a restarted server had closed.
    Server& server = *servers_[Draw(servers_.size())];
    for (const PoolOf pool : Now().closed) {
      server.Ranges().OpenIfStale(pool, *server.Follower().Current());
    }
  }
  if (failure_.empty()) CheckAtRest();
}

void Run::CatchUp() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (const std::unique_ptr<Server>& server : servers_) {
    while (server->Follower().Current()->Revision() < Now().revision) {
      server->Follower().Pump();
      if (std::chrono::steady_clock::now() > end) return Fail("a server does not catch up");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void Run::CheckAtRest() {
  Audit();
  if (!open_.empty()) return Fail("no answer to " + ToText(open_.front()->request));
  if (!Now().closed.empty()) return Fail("a fence stays closed");
  for (const std::unique_ptr<Server>& server : servers_) {
    if (server->Sequencer().GetStats().waiting != 0) return Fail("a write still waits");
    const std::string wrong = server->CheckIndexes(Now());
    if (!wrong.empty()) return Fail(wrong);
  }
}

void Run::CheckAllEnds() {
  shared_.clock.Advance(std::chrono::hours(1));
  Drain();
  for (const auto& [value, record] : Now().records) {
    if (record.until) Fail(value + " does not end: " + ToText(record));
  }
}

}  // namespace berth::model
