// One run of the model test: requests are sent, several at a time, and held against the model. What
// happens when is drawn from the seed, and nothing happens by itself.
//
// The order of what was committed is known from the store. So each commit must be what the model
// says in the world before it. A request that changed nothing must have been answered as the model
// says in some world between the last one that anybody knew of when it was sent and the present.
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
#include "model/services_request.h"
#include "model/services_rules.h"
#include "model/services_stack.h"
#include "model/services_world.h"

namespace berth::model {

struct Scene {
  Ranges ranges;
  Habits habits = {};
  std::vector<registry::Gates> gates = {{}};  // One for each server.
  bool switch_gates = false;                  // With each restart.
  size_t in_flight = 1;
  int steps = 300;
  int filled = 0;              // Percent of the addresses that are reserved from the start.
  int faults = 0;              // Percent of the commits.
  int restarts = 0;            // Per thousand steps, and
  int lost = 0;                // how often the past is forgotten,
  int switches = 0;            // and the form of allocations is switched.
  bool bitmaps = false;        // It begins with bitmaps.
  Backend* backend = nullptr;  // Null: in memory. It must not hold anything.
};

/// What was seen in all runs, so that a test knows that it has tested something.
struct Seen {
  std::map<Classes, int64_t> classes;
  int64_t requests = 0;
  int64_t commits = 0;
  int64_t dry_runs = 0;
  int64_t taken = 0;
  int64_t given_back = 0;
  int64_t spilled = 0;
  int64_t overlapping = 0;  // Requests that were refused by an earlier or later world only.
  int64_t restarts = 0;
  int64_t faults = 0;
  int64_t conflicts = 0;
  int64_t merged = 0;      // Transactions of several requests.
  int64_t ranges = 0;      // Changes of ranges, of which
  int64_t smaller = 0;     // so many left out values that a range had.
  int64_t kept_taken = 0;  // Values that were kept for who took them.
  int64_t kept_again = 0;  // Given back, and
  int64_t cooled = 0;      // so many cooled down.
  int64_t expired = 0;     // Holds and cool-downs that ended.
  int64_t switches = 0;    // Of the form, finished ones.

  void Add(const Seen& other);
  std::string ToText() const;
};

class Run {
 public:
  Run(const Scene& scene, uint64_t seed);
  ~Run();

  /// Empty, or what went wrong and what happened last.
  std::string Go();
  const Seen& seen() const { return seen_; }

 private:
  /// A request on its way.
  struct Open {
    Request request;
    std::string key;
    size_t floor = 0;    // The first world that it may be answered from.
    size_t picture = 0;  // The one its server showed.
    size_t rivals = 0;   // Requests to the same server that it has overlapped with.
    size_t commit = 0;   // The world it made; 0: none.
    bool failed = false;
    bool unknown = false;
    bool shaken = false;  // What it needs, or shares with others, could not be written.
  };
  using OpenPtr = std::shared_ptr<Open>;
  using Answer = base::Result<registry::Outcome>;

  uint64_t Draw(uint64_t bound) { return base::Uniform(random_, bound); }
  bool Percent(int percent) { return Draw(100) < static_cast<uint64_t>(percent); }
  void Fail(const std::string& why);
  void Log(std::string line);
  const World& Now() const { return *worlds_.back(); }

  // What happens.
  void Prefill();
  void Step();
  void Submit();
  void Call(const OpenPtr& open);
  registry::Target TargetOf(const Request& request) const;
  codec::Value ObjectOf(const Request& request) const;
  registry::NextState NextOf(const Request& request) const;
  void SendSome(Server& server);
  void Send(Server& server, size_t place, store::Fault fault);
  /// Whose the transaction is; several may share one.
  std::vector<OpenPtr> MembersOf(const Server& server, const store::Txn& txn) const;
  void OnConflict(const std::vector<store::Put>& puts, const Open& open);
  void Restart(size_t replica);
  void LosePast();
  /// Until everybody is answered and everything is at rest; then all counts are compared.
  void Drain();
  bool Progress();
  /// Until every server shows what is stored.
  void CatchUp();
  void CheckAtRest();
  /// Nothing that ends by itself lasts.
  void CheckAllEnds();
  std::unique_ptr<Server> NewServer(size_t replica, const registry::Gates& gates);

  // The form of allocations (services_forms.cc).
  void BeginWithBitmaps();
  void SwitchForm(size_t replica, commit::AllocationForm to, bool to_the_end);
  base::Result<commit::Written> RunWrite(size_t replica, commit::Write write, bool to_the_end);
  void FinishSwitch();

  // What must hold when something is committed (services_commits.cc).
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
  /// What the server that was asked may have gone by, the likeliest first.
  std::vector<Settings> SettingsOf(const Open& open, const World& world) const;
  size_t FirstSeen(const Open& open) const { return std::min(open.picture, open.floor); }

  // What must hold when a request is answered (services_check.cc).
  void OnAnswer(const OpenPtr& open, const Answer& answer);
  void CheckAnswer(const Open& open, const Answer& answer, Classes got);
  void CheckCommittedAnswer(const Open& open, const Answer& answer, Classes got);
  void CheckOtherAnswer(const Open& open, const Answer& answer, Classes got);
  /// What is wrong with the answer in that world.
  std::string CheckIn(const World& world, const Settings& settings, const Open& open,
                      const Answer& answer, Classes got) const;
  /// What is wrong with an answer that says it worked, though nothing was written.
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
  std::unique_ptr<store::Watch> watch_;
  std::vector<WorldPtr> worlds_;
  std::vector<OpenPtr> open_;  // In the order in which they came.
  size_t floor_ = 0;           // The newest world that somebody was told of.
  bool closing_ = false;
  bool lost_past_ = false;
  std::optional<size_t> switching_;  // The server that is about to switch the form.
  std::string failure_;
  std::deque<std::string> log_;
  Seen seen_;
};

}  // namespace berth::model
