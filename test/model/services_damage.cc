// Damage in the model test: after a run, random damage is written straight into the store, piece by
// piece. After each piece the auditor must find exactly what simple loops over the world find. Then
// its repairs must leave only what a person must decide, and change no Service.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "allocation/audit/snapshot_pass.h"
#include "allocation/records.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "controllers/audit_follow_up.h"
#include "model/services_run.h"
#include "store/blocking.h"

namespace berth::model {
namespace {

using Findings = std::set<std::string>;  // "NoRecord 10.96.0.10"

/// Returns what is wrong, as far as the damage below can cause it.
Findings ExpectedIn(const World& world) {
  std::map<std::string, std::vector<std::string>> owners;
  for (const auto& [name, stored] : world.services) {
    for (const std::string& value : stored->service.Held()) owners[value].push_back(name);
  }
  Findings found;
  for (const auto& [value, names] : owners) {
    const bool covered = world.cluster->Covers(value);
    if (!covered) found.insert("OutOfRange " + value);
    const Record* record = world.RecordOf(value);
    if (names.size() > 1) {
      found.insert("TwoOwners " + value);
    } else if (record == nullptr) {
      if (covered) found.insert("NoRecord " + value);
    } else if (record->state != Record::State::kAllocated || record->name != names[0]) {
      found.insert("WrongOwner " + value);
    } else if (!record->uid.empty() && record->uid != world.Find(names[0])->service.uid) {
      found.insert("WrongUid " + value);
    }
  }
  for (const auto& [value, record] : world.records) {
    const bool taken = record.state == Record::State::kAllocated;
    if (taken && !owners.contains(value)) found.insert("Orphan " + value);
  }
  return found;
}

/// Returns whether the auditor leaves the finding to a person: values of two Services or outside of
/// all ranges, and those of a Service for which they are not reserved.
bool WaitsForAPerson(const World& world, const std::string& finding) {
  const Record* record = world.RecordOf(finding.substr(finding.find(' ') + 1));
  const bool reserved = record != nullptr && (record->state == Record::State::kReserved ||
                                              record->state == Record::State::kPending);
  return finding.starts_with("TwoOwners ") || finding.starts_with("OutOfRange ") ||
         (reserved && finding.starts_with("WrongOwner "));
}

/// Returns the findings of a report that this file expects.
Findings FoundIn(const audit::Report& report) {
  Findings found;
  for (const audit::Finding& finding : report.findings) {
    if (finding.may_settle || finding.kind == audit::FindingKind::kLostReservation) continue;
    found.insert(fmt::format("{} {}", audit::NameOf(finding.kind),
                             finding.value ? allocation::RecordName(*finding.value) : ""));
  }
  return found;
}

std::string Difference(const Findings& expected, const Findings& found) {
  std::string text;
  for (const std::string& each : expected) text += found.contains(each) ? "" : " -" + each;
  for (const std::string& each : found) text += expected.contains(each) ? "" : " +" + each;
  return text;
}

}  // namespace

void Run::CheckDamage() {
  if (!Now().form.IsRecords()) return;
  for (int i = 0; i < scene_.damage && failure_.empty(); ++i) {
    Damage(i);
    Settle();
    CheckFindings("after damage");
  }
  const auto before = Now().services;
  for (int i = 0; i < 3 && failure_.empty(); ++i) Repair(i);
  if (!failure_.empty()) return;
  CheckFindings("after the repairs");
  for (const std::string& left : ExpectedIn(Now())) {
    if (!WaitsForAPerson(Now(), left)) Fail("not repaired: " + left);
  }
  if (Now().services != before) Fail("a repair has changed a Service");
  // A person removes what the damage has added, and all is well.
  for (const auto& [name, stored] : before) {
    if (name.starts_with("x")) Write(api::kServiceKind, "shop/" + name, std::nullopt);
  }
  Settle();
  for (int i = 0; i < 3 && failure_.empty(); ++i) Repair(i);
  const std::string wrong = CheckWorld(Now());
  if (!wrong.empty()) Fail("after everything was repaired: " + wrong);
}

/// Lets all servers do what they have to do, without checks of what they write.
void Run::Settle() {
  bool any = true;
  while (any) {
    any = false;
    for (const std::unique_ptr<Server>& server : servers_) {
      for (; server->Engine().Commits() > 0; any = true) server->Engine().Send(0);
      for (; server->Engine().Replies() > 0; any = true) server->Engine().Reply(0);
      while (server->Follower().Pump()) any = true;
    }
  }
  std::vector<store::EventPtr> events;
  while (true) {
    const auto batch = watch_->Poll(10'000);
    if (!batch || batch->events.empty()) break;
    events.insert(events.end(), batch->events.begin(), batch->events.end());
  }
  if (!events.empty()) {
    worlds_.push_back(std::make_shared<const World>(Apply(Now(), events, shared_.kinds)));
  }
}

void Run::CheckFindings(const std::string& when) {
  const Findings expected = ExpectedIn(Now());
  for (const std::unique_ptr<Server>& server : servers_) {
    const state::SnapshotPtr shown = server->Follower().Current();
    const Findings found = FoundIn(allocation::AuditSnapshot(shared_.kinds, *shown, {}, {}));
    seen_.found += static_cast<int64_t>(found.size());
    if (const std::string difference = Difference(expected, found); !difference.empty()) {
      return Fail(when + " the auditor finds something else than expected:" + difference);
    }
  }
}

/// Lets a server act on a pass.
void Run::Repair(int pass) {
  Server& server = *servers_[Draw(servers_.size())];
  auto& follow_up = follow_ups_[&server];
  if (follow_up == nullptr) {
    follow_up = std::make_unique<controllers::AuditFollowUp>(
        controllers::AuditFollowUp::Parts{.registry = server.Registry(),
                                          .ledger = server.Ledger(),
                                          .clock = shared_.clock,
                                          .log = shared_.log,
                                          .run =
                                              [this, &server](commit::Write write) {
                                                std::optional<base::Result<commit::Written>> answer;
                                                server.Sequencer().Submit(
                                                    std::move(write), [&answer](auto written) {
                                                      answer = std::move(written);
                                                    });
                                                while (!answer) Settle();
                                                return *std::move(answer);
                                              }},
        base::SeededRandom(random_.Next()));
  }
  Log(fmt::format("    pass {} of a repair", pass));
  const state::SnapshotPtr shown = server.Follower().Current();
  follow_up->Take(allocation::AuditSnapshot(shared_.kinds, *shown, {}, {}), *shown,
                  [] { return true; });
  Settle();
}

void Run::Write(const api::Kind& kind, const std::string& name,
                const std::optional<codec::Value>& object) {
  const std::string key = shared_.kinds.FindRow(kind)->prefix + name;
  Log(fmt::format("    damage: {} {}", object ? "put" : "delete", key));
  if (object) {
    shared_.Put(key, codec::EncodeStored(*object, kind));
  } else {
    store::CommitNow(shared_.At(0), {.deletes = {key}});
  }
}

void Run::Damage(int number) {
  switch (Draw(4)) {
    case 0:
      return DamageRecord();
    case 1: {
      if (Now().services.empty()) return;
      const auto service =
          std::next(Now().services.begin(), static_cast<ptrdiff_t>(Draw(Now().services.size())));
      return Write(api::kServiceKind, "shop/" + service->first, std::nullopt);
    }
    default:
      return WriteService("x" + std::to_string(number));
  }
}

/// Deletes the record of a Service, or lets it name another one.
void Run::DamageRecord() {
  std::vector<std::string> values;
  for (const auto& [value, record] : Now().records) {
    if (record.state == Record::State::kAllocated) values.push_back(value);
  }
  if (values.empty()) return;
  const std::string value = values[Draw(values.size())];
  const bool port = PoolOfValue(value) == PoolOf::kPorts;
  const api::Kind& kind = port ? api::kNodePortKind : api::kIpAddressKind;
  if (Percent(50)) return Write(kind, value, std::nullopt);
  const auto stored = store::GetNow(shared_.At(0), shared_.kinds.FindRow(kind)->prefix + value);
  if (!stored || !*stored) return Fail("there is no record of " + value);
  codec::Value object = codec::DecodeStored((*stored)->value).value().object;
  const std::string name =
      Now().services.empty() || Percent(30) ? "nobody-else" : Now().services.begin()->first;
  if (!port) {
    codec::SetAt(object, {"spec", "parentRef", "name"}, name);
  } else if (Percent(50)) {
    codec::SetAt(object, {"status", "service", "name"}, name);
  } else {
    codec::SetAt(object, {"status", "service", "uid"}, "7c9f1ad0-0000-4000-8000-000000000000");
  }
  Write(kind, value, object);
}

/// Writes a Service with an address and perhaps a port, which may be free, taken or in no range.
void Run::WriteService(const std::string& name) {
  const auto some = [this](PoolOf pool, const char* outside) -> std::string {
    const std::set<std::string> all = Now().cluster->Values(pool);
    if (all.empty() || Percent(10)) return outside;
    return *std::next(all.begin(), static_cast<ptrdiff_t>(Draw(all.size())));
  };
  const bool v4 = Now().cluster->Families().empty() || Now().cluster->Families()[0] == "IPv4";
  Service service{.policy = "SingleStack", .families = {v4 ? "IPv4" : "IPv6"}};
  service.ips = {some(v4 ? PoolOf::kIpv4 : PoolOf::kIpv6, v4 ? "172.30.0.1" : "fd77::1")};
  service.ports = {{.port = 80}};
  if (Percent(50)) {
    service.type = Type::kNodePort;
    service.ports[0].node = std::stoll(some(PoolOf::kPorts, "77"));
  }
  codec::Value object = codec::Object{
      {"metadata",
       codec::Object{{"name", name},
                     {"namespace", "shop"},
                     {"uid", fmt::format("7c9f1ad0-0000-4000-8000-{:012}", Draw(1'000'000) + 1)}}}};
  WriteInto(object, service);
  Write(api::kServiceKind, "shop/" + name, object);
}

}  // namespace berth::model
