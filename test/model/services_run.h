// One run of the model test: requests are sent, several at a time, and held against the model. What
// happens when is drawn from the seed, and nothing happens by itself.
//
// The order of what was committed is known from the store. So each commit must be what the model
// says in the world before it. A request that changed nothing must have been answered as the model
// says in some world between the last one that anybody knew of when it was sent and the present.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
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
  int filled = 0;    // Percent of the addresses that are reserved from the start.
  int faults = 0;    // Percent of the commits.
  int restarts = 0;  // Per thousand steps, and
  int lost = 0;      // how often the past is forgotten.
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
  void OnConflict(const std::vector<store::Put>& puts, const Open& open);
  void Restart(size_t replica);
  void LosePast();
  /// Until everybody is answered and everything is at rest; then all counts are compared.
  void Drain();
  bool Progress();

  // What must hold (services_check.cc).
  void OnAnswer(const OpenPtr& open, const Answer& answer);
  void CheckAnswer(const Open& open, const Answer& answer, Classes got);
  void CheckCommittedAnswer(const Open& open, const Answer& answer, Classes got);
  void CheckOtherAnswer(const Open& open, const Answer& answer, Classes got);
  /// What is wrong with an answer that says it worked, though nothing was written.
  std::string CheckForeseen(const Open& open, const registry::Outcome& outcome,
                            const Verdict& verdict, const World& world) const;
  std::string CheckDoneByAnother(const Open& open, const commit::Written& written,
                                 const World& world) const;
  void OnCommit(Open& open, const std::vector<store::EventPtr>& events);
  void CheckServiceCommit(const Open& open, const Verdict& verdict, const World& before,
                          const World& after, const std::vector<store::EventPtr>& events);
  void CheckAddressCommit(const Open& open, const World& before, const World& after,
                          const std::vector<store::EventPtr>& events);
  void CheckOrder(const std::string& key, const std::set<std::string>& taken,
                  const std::set<std::string>& given, const std::vector<store::EventPtr>& events);
  void CheckTaken(const Open& open, const Verdict& verdict, const World& after,
                  const std::set<std::string>& taken);
  bool MaySpill(const Open& open, PoolOf pool, size_t takes) const;

  const Scene scene_;
  const uint64_t seed_;
  base::SeededRandom random_;
  const Cluster cluster_;
  SharedStore shared_;
  Requests requests_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<store::Watch> watch_;
  std::vector<WorldPtr> worlds_;
  std::vector<OpenPtr> open_;  // In the order in which they came.
  size_t floor_ = 0;           // The newest world that somebody was told of.
  bool closing_ = false;
  bool lost_past_ = false;
  std::string failure_;
  std::deque<std::string> log_;
  Seen seen_;
};

}  // namespace berth::model
