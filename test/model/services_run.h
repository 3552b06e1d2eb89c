// One run of the model test. Several requests are in flight at a time, and every outcome is
// compared with the model. The seed determines what happens when, and nothing happens by itself.
//
// The store tells the order of commits. So each commit must be what the model says in the world
// before it. A request that changed nothing must have the answer that the model gives in some world
// between the newest one that was known when it was sent and the present one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "controllers/audit_follow_up.h"
#include "model/services_request.h"
#include "model/services_rules.h"
#include "model/services_stack.h"
#include "model/services_world.h"

namespace berth::model {

struct Scene {
  Ranges ranges;
  Habits habits = {};
  std::vector<registry::Gates> gates = {{}};  // One for each server.
  bool switch_gates = false;                  // The gates change with each restart.
  size_t in_flight = 1;
  int steps = 300;
  int filled = 0;              // Percent of the addresses that are reserved at the start.
  int faults = 0;              // Percent of the commits that fail.
  int restarts = 0;            // Restarts per thousand steps.
  int lost = 0;                // Compactions per thousand steps.
  int switches = 0;            // Switches of the allocation form per thousand steps.
  int damage = 0;              // Pieces of damage at the end of the run. Not for a backend.
  bool bitmaps = false;        // The run starts with bitmaps.
  Backend* backend = nullptr;  // Null means in memory. A backend must be empty.
};

/// What all runs have seen, so that a test can verify that it has tested something.
struct Seen {
  std::map<Classes, int64_t> classes;
  int64_t requests = 0;
  int64_t commits = 0;
  int64_t dry_runs = 0;
  int64_t taken = 0;
  int64_t given_back = 0;
  int64_t spilled = 0;
  int64_t overlapping = 0;  // Refused by an earlier or later world only.
  int64_t restarts = 0;
  int64_t faults = 0;
  int64_t conflicts = 0;
  int64_t merged = 0;      // Transactions of several requests.
  int64_t ranges = 0;      // Changes of ranges.
  int64_t smaller = 0;     // Changes of ranges that removed values.
  int64_t kept_taken = 0;  // Values that were kept for the Service that took them.
  int64_t kept_again = 0;  // Released values that were kept again.
  int64_t cooled = 0;      // Released values that cooled down.
  int64_t expired = 0;     // Holds and cool-downs that ended.
  int64_t switches = 0;    // Completed switches of the allocation form.
  int64_t found = 0;       // Findings of the auditor after damage.
  int64_t audited = 0;     // Revisions in which the auditor has looked for findings.

  void Add(const Seen& other);
  std::string ToText() const;
};

class Run {
 public:
  Run(const Scene& scene, uint64_t seed);
  ~Run();

  /// Returns "", or a description of the failure and of the last steps.
  std::string Go();
  const Seen& seen() const { return seen_; }

 private:
  /// A request in flight.
  struct Open {
    Request request;
    std::string key;
    size_t floor = 0;    // The first world that it may be answered from.
    size_t picture = 0;  // The world that its server showed when it was sent.
    size_t rivals = 0;   // Overlapping requests to the same server.
    size_t commit = 0;   // The world that it created; 0 if it has not committed.
    bool failed = false;
    bool unknown = false;
    bool shaken = false;  // A commit that it needs or shares has failed.
  };
  using OpenPtr = std::shared_ptr<Open>;
  using Answer = base::Result<registry::Outcome>;

  uint64_t Draw(uint64_t bound) { return base::Uniform(random_, bound); }
  bool Percent(int percent) { return Draw(100) < static_cast<uint64_t>(percent); }
  void Fail(const std::string& why);
  void Log(std::string line);
  const World& Now() const { return *worlds_.back(); }

  // Actions.
  void Prefill();
  void Step();
  void Submit();
  void Call(const OpenPtr& open);
  registry::Target TargetOf(const Request& request) const;
  codec::Value ObjectOf(const Request& request) const;
  registry::NextState NextOf(const Request& request) const;
  void SendSome(Server& server);
  void Send(Server& server, size_t place, store::Fault fault);
  /// Returns the requests that a transaction belongs to. Several may share one.
  std::vector<OpenPtr> MembersOf(const Server& server, const store::Txn& txn) const;
  void OnConflict(const std::vector<store::Put>& puts, const Open& open);
  void Restart(size_t replica);
  void LosePast();
  /// Continues until every request is answered and nothing changes any more. Then compares all
  /// counts.
  void Drain();
  bool Progress();
  /// Waits until every server shows what is stored.
  void CatchUp();
  void CheckAtRest();
  /// Checks that everything with an end does end.
  void CheckAllEnds();
  /// Lets the auditor check what the servers show, unless it has seen it. It must find nothing
  /// (services_audit.cc).
  void Audit();
  const World& WorldAt(int64_t revision) const;
  std::unique_ptr<Server> NewServer(size_t replica, const registry::Gates& gates);

  // The allocation form (services_forms.cc).
  void BeginWithBitmaps();
  void SwitchForm(size_t replica, allocation::AllocationForm to, bool to_the_end);
  base::Result<commit::Written> RunWrite(size_t replica, commit::Write write, bool to_the_end);
  void FinishSwitch();

  // Damage that is written straight into the store (services_damage.cc).
  void CheckDamage();
  void Settle();
  void CheckFindings(const std::string& when);
  void Repair(int pass);
  void Write(const api::Kind& kind, const std::string& name,
             const std::optional<codec::Value>& object);
  void Damage(int number);
  void DamageRecord();
  void WriteService(const std::string& name);

  // Checks for each commit (services_commits.cc).
  void OnCommit(const std::vector<OpenPtr>& members, const std::vector<store::EventPtr>& events);
  void CheckCommit(Open& open, const WorldPtr& after, const std::vector<store::EventPtr>& events);
  void OnExpired();
  void CheckServiceCommit(const Open& open, const Verdict& verdict, const Settings& settings,
                          const World& after, const std::vector<store::EventPtr>& events);
  void CheckRecords(const Open& open, const World& after,
                    const std::vector<store::EventPtr>& events);
  void CheckGivenBack(const Open& open, const std::string& value, const World& after);
  void CheckTaken(const Open& open, const Verdict& verdict, const Settings& settings,
                  const World& after, const std::set<std::string>& taken);
  bool MayBeDrawn(const Open& open, const Settings& settings, const std::string& value,
                  size_t takes) const;
  void CheckRecordCommit(const Open& open, const World& after,
                         const std::vector<store::EventPtr>& events);
  void CheckRangeCommit(const Open& open, const Verdict& verdict, const World& after,
                        const std::vector<store::EventPtr>& events);
  /// Returns the settings that the server may have used, the most likely ones first.
  std::vector<Settings> SettingsOf(const Open& open, const World& world) const;
  size_t FirstSeen(const Open& open) const { return std::min(open.picture, open.floor); }

  // Checks for each answer (services_check.cc).
  void OnAnswer(const OpenPtr& open, const Answer& answer);
  void CheckAnswer(const Open& open, const Answer& answer, Classes got);
  void CheckCommittedAnswer(const Open& open, const Answer& answer, Classes got);
  void CheckOtherAnswer(const Open& open, const Answer& answer, Classes got);
  /// Returns what is wrong with the answer in that world, or "".
  std::string CheckIn(const World& world, const Settings& settings, const Open& open,
                      const Answer& answer, Classes got) const;
  /// Returns what is wrong with an answer that reports success although nothing was written, or "".
  std::string CheckForeseen(const Open& open, const registry::Outcome& outcome,
                            const Verdict& verdict, const Settings& settings,
                            const World& world) const;
  std::string CheckDoneByAnother(const Open& open, const commit::Written& written,
                                 const World& world) const;

  const Scene scene_;
  const uint64_t seed_;
  base::SeededRandom random_;
  SharedStore shared_;
  Requests requests_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::map<const Server*, std::unique_ptr<controllers::AuditFollowUp>> follow_ups_;
  std::unique_ptr<store::Watch> watch_;
  std::vector<WorldPtr> worlds_;
  std::vector<OpenPtr> open_;  // In the order of arrival.
  size_t floor_ = 0;           // The newest world that an answer has shown.
  int64_t audited_ = 0;        // The newest revision that the auditor has checked.
  bool closing_ = false;
  bool lost_past_ = false;
  std::optional<size_t> switching_;  // The server that is switching the form.
  std::string failure_;
  std::deque<std::string> log_;
  Seen seen_;
};

}  // namespace berth::model
