#include "linear/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "linear/linear_digest.h"

namespace berth::linear {
namespace {

using State = std::vector<size_t>;  // The put that each key has; 0 means that it does not exist.

bool Holds(const Condition& condition, const State& state) {
  const bool found =
      std::ranges::find(condition.puts, state[condition.key]) != condition.puts.end();
  return found != condition.negated;
}

/// How far an order got: the steps it has placed, and the state they lead to.
struct Progress {
  std::vector<size_t> placed = {};  // In order.
  size_t mandatory = 0;             // How many of them are not optional.
  int64_t ranked = 0;               // How many of them have a rank.
  State state = {};
};

class Search {
 public:
  /// Without `look_ahead`, the search does not give up before it reaches the step that does not
  /// fit. This is for showing that step.
  Search(const Digest& digest, uint64_t limit, bool look_ahead)
      : steps_(digest.steps),
        limit_(limit),
        look_ahead_(look_ahead),
        done_(steps_.size()),
        demands_(digest.puts.size() + 1) {
    now_.state.resize(digest.keys.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].optional) optional_.push_back(i);
      CountDemands(steps_[i], 1);
    }
  }

  Verdict Run() {
    Enter(std::nullopt);
    while (!frames_.empty()) {
      if (now_.mandatory == steps_.size() - optional_.size()) return Verdict::kLinearizable;
      if (configurations_ > limit_) {
        if (best_.state.empty()) best_ = now_;
        return Verdict::kUndecided;
      }
      Frame& top = frames_.back();
      if (top.next == top.candidates.size()) {
        if (best_.state.empty() || now_.mandatory > best_.mandatory) best_ = now_;
        Leave();
      } else {
        Enter(top.candidates[top.next++]);
      }
    }
    return Verdict::kViolation;
  }

  uint64_t configurations() const { return configurations_; }
  const Progress& best() const { return best_; }

 private:
  /// One decision: a write is placed, and then every read that fits. The rest is for going back.
  struct Frame {
    size_t placed_before = 0;
    size_t first_before = 0;
    State state_before = {};
    std::vector<uint64_t> unused_before = {};
    std::vector<size_t> candidates = {};
    size_t next = 0;
  };

  bool Fits(const Step& step) const {
    if (step.rank >= 0 && step.rank != now_.ranked) return false;
    if (step.at_rank >= 0 && step.at_rank != now_.ranked) return false;
    return std::ranges::all_of(
        step.conditions, [&](const Condition& condition) { return Holds(condition, now_.state); });
  }

  bool IsWaiting(size_t index) const { return done_[index] == 0 && !steps_[index].optional; }

  /// Returns the time limit for the next step: one called later must come after a step not placed
  /// yet.
  uint64_t Horizon() const {
    uint64_t horizon = kNever;
    for (size_t i = first_; i < steps_.size() && steps_[i].called < horizon; ++i) {
      if (IsWaiting(i)) horizon = std::min(horizon, steps_[i].deadline);
    }
    return horizon;
  }

  void Place(size_t index) {
    const Step& step = steps_[index];
    done_[index] = 1;
    now_.placed.push_back(index);
    if (!step.optional) ++now_.mandatory;
    CountDemands(step, -1);
    if (step.rank >= 0) ++now_.ranked;
    for (const Effect& effect : step.effects) now_.state[effect.key] = effect.put;
    while (first_ < steps_.size() && !IsWaiting(first_)) ++first_;
    std::erase_if(unused_, [&](uint64_t keys) { return (keys & step.touched) != 0; });
    if (step.optional) unused_.push_back(step.touched);
  }

  void PlaceReads() {
    bool again = true;
    while (again) {
      again = false;
      const uint64_t horizon = Horizon();
      for (size_t i = first_; i < steps_.size() && steps_[i].called < horizon; ++i) {
        if (!IsWaiting(i) || !steps_[i].effects.empty() || !Fits(steps_[i])) continue;
        Place(i);
        again = true;
      }
    }
  }

  void Enter(std::optional<size_t> write) {
    frames_.push_back({.placed_before = now_.placed.size(),
                       .first_before = first_,
                       .state_before = now_.state,
                       .unused_before = unused_});
    ++configurations_;
    if (write) Place(*write);
    PlaceReads();
    if (SeenBefore()) return;
    frames_.back().candidates = Candidates();
  }

  void Leave() {
    Frame& frame = frames_.back();
    while (now_.placed.size() > frame.placed_before) {
      const size_t index = now_.placed.back();
      now_.placed.pop_back();
      done_[index] = 0;
      if (!steps_[index].optional) --now_.mandatory;
      CountDemands(steps_[index], 1);
      if (steps_[index].rank >= 0) --now_.ranked;
    }
    now_.state = std::move(frame.state_before);
    unused_ = std::move(frame.unused_before);
    first_ = frame.first_before;
    frames_.pop_back();
  }

  /// Returns the put that a condition requires, or 0 if it requires none or absence.
  static size_t Demanded(const Condition& condition) {
    return condition.puts.size() == 1 && !condition.negated ? condition.puts.front() : 0;
  }

  void CountDemands(const Step& step, int by) {
    if (step.optional) return;
    for (const Condition& condition : step.conditions) demands_[Demanded(condition)] += by;
  }

  /// Checks that a step overwrites no put that a later step still requires, since a put is placed
  /// once.
  bool Overwritable(const Step& step) const {
    return std::ranges::all_of(step.effects, [&](const Effect& effect) {
      const size_t held = now_.state[effect.key];
      int others = demands_[held];
      for (const Condition& condition : step.conditions) {
        if (!step.optional && Demanded(condition) == held) --others;
      }
      return held == 0 || others == 0;
    });
  }

  bool MayWrite(const Step& step) const {
    return !step.effects.empty() && Fits(step) && (!look_ahead_ || Overwritable(step));
  }

  /// Returns the writes that may come next. Those that must return first come first, and those that
  /// may never have happened come last.
  std::vector<size_t> Candidates() const {
    const uint64_t horizon = Horizon();
    std::vector<size_t> found;
    for (size_t i = first_; i < steps_.size() && steps_[i].called < horizon; ++i) {
      if (IsWaiting(i) && MayWrite(steps_[i]) && IsUseful(steps_[i])) found.push_back(i);
    }
    std::ranges::sort(found, {}, [&](size_t i) { return std::pair(steps_[i].deadline, i); });
    for (const size_t i : optional_) {
      const bool may = done_[i] == 0 && steps_[i].called < horizon;
      if (may && MayWrite(steps_[i]) && Changes(steps_[i])) found.push_back(i);
    }
    return found;
  }

  /// Returns whether the step is worth trying. If an optional write is placed at all, it can be
  /// moved to right before the first step that touches its keys. So after it only such steps need
  /// to be tried, and other optional ones.
  bool IsUseful(const Step& step) const {
    return std::ranges::all_of(unused_, [&](uint64_t keys) { return (keys & step.touched) != 0; });
  }

  bool Changes(const Step& step) const {
    return std::ranges::any_of(
        step.effects, [&](const Effect& effect) { return now_.state[effect.key] != effect.put; });
  }

  /// Returns whether this configuration was seen before with no more optional writes used.
  bool SeenBefore() {
    std::string key;
    std::vector<bool> used;
    const auto add = [&key](uint64_t number) {
      key.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    add(first_);
    const uint64_t horizon = Horizon();
    for (size_t i = first_; i < steps_.size() && steps_[i].called < horizon; ++i) {
      if (done_[i] != 0 && !steps_[i].optional) add(i);
    }
    add(kNever);
    for (const size_t put : now_.state) add(put);
    for (const uint64_t keys : unused_) add(keys);
    for (const size_t i : optional_) used.push_back(done_[i] != 0);
    auto& before = seen_[key];
    const bool seen = std::ranges::any_of(before, [&](const std::vector<bool>& other) {
      return std::ranges::equal(other, used, [](bool a, bool b) { return !a || b; });
    });
    if (!seen) before.push_back(std::move(used));
    return seen;
  }

  const std::vector<Step>& steps_;
  const uint64_t limit_;
  const bool look_ahead_;
  std::vector<size_t> optional_;
  uint64_t configurations_ = 0;

  Progress now_;
  Progress best_;
  std::vector<char> done_;
  std::vector<int> demands_;      // How many later steps require each put.
  size_t first_ = 0;              // No step before this one waits.
  std::vector<uint64_t> unused_;  // Keys of optional writes that nothing has touched since.
  std::vector<Frame> frames_;
  std::unordered_map<std::string, std::vector<std::vector<bool>>> seen_;
};

/// Explains why a history is not linearizable, for the person who has to learn what the store did.
class Explainer {
 public:
  Explainer(const History& history, const Digest& digest, const Progress& best)
      : history_(history), digest_(digest), best_(best) {}

  std::string Text() const {
    const std::vector<size_t> stuck = Stuck();
    uint64_t keys = 0;
    for (const size_t index : stuck) keys |= digest_.steps[index].touched;
    std::string out = fmt::format(
        "not linearizable: {} operations can be put in order, then none of the next fits.\n",
        best_.placed.size());
    out += "  the last of them that touch the same keys:\n";
    for (const size_t index : LastTouching(keys)) {
      out += fmt::format("    {}\n", Line(digest_.steps[index]));
    }
    out += "  which leaves:\n";
    for (size_t key = 0; key < digest_.keys.size(); ++key) {
      if ((keys >> (key % 64) & 1) != 0) {
        out += fmt::format("    {}\n", Held(key, best_.state[key]));
      }
    }
    out += "  and cannot be placed:\n";
    for (const size_t index : stuck) {
      const Step& step = digest_.steps[index];
      out += fmt::format("    {}\n      {}\n", Line(step), Why(step));
    }
    return out;
  }

 private:
  std::string Line(const Step& step) const {
    return Describe(history_.operations[step.operation], step.operation);
  }

  std::string_view Name(size_t key) const { return ShortName(digest_.keys[key]); }

  std::string Held(size_t key, size_t put) const {
    if (put == 0) return fmt::format("{} does not exist", Name(key));
    const PutFact& fact = digest_.puts[put - 1];
    const auto revision = fact.revisions.empty() ? store::Revision{} : fact.revisions.front();
    return fmt::format("{} = {}@{} (of #{})", Name(key), fact.value, revision.value,
                       fact.operation);
  }

  /// Returns the steps that could come next by their time; the one that must come first is first.
  std::vector<size_t> Stuck() const {
    std::vector<char> done(digest_.steps.size());
    for (const size_t index : best_.placed) done[index] = 1;
    uint64_t horizon = kNever;
    std::vector<size_t> stuck;
    for (size_t i = 0; i < done.size() && digest_.steps[i].called < horizon; ++i) {
      if (done[i] != 0 || digest_.steps[i].optional) continue;
      horizon = std::min(horizon, digest_.steps[i].deadline);
      stuck.push_back(i);
    }
    std::ranges::sort(stuck, {}, [&](size_t i) { return std::pair(digest_.steps[i].deadline, i); });
    return stuck;
  }

  std::vector<size_t> LastTouching(uint64_t keys) const {
    constexpr size_t kShown = 12;
    std::vector<size_t> last;
    for (auto i = best_.placed.rbegin(); i != best_.placed.rend() && last.size() < kShown; ++i) {
      if ((digest_.steps[*i].touched & keys) != 0) last.push_back(*i);
    }
    std::ranges::reverse(last);
    return last;
  }

  std::string Why(const Step& step) const {
    for (const Condition& condition : step.conditions) {
      if (!Holds(condition, best_.state)) return WhyNot(condition);
    }
    if (step.rank >= 0 && step.rank != best_.ranked) {
      return "by its revisions another write comes first";
    }
    if (step.at_rank >= 0 && step.at_rank != best_.ranked) {
      return fmt::format("by its revision {} writes come before it, but {} did", step.at_rank,
                         best_.ranked);
    }
    return "would fit here, but then the others do not";
  }

  std::string WhyNot(const Condition& condition) const {
    if (condition.puts.empty()) {
      return fmt::format("compares {} with a revision it never had", Name(condition.key));
    }
    return fmt::format("needs {}{}", condition.negated ? "not: " : "",
                       Held(condition.key, condition.puts.front()));
  }

  const History& history_;
  const Digest& digest_;
  const Progress& best_;
};

std::string Listed(const std::vector<std::string>& faults) {
  constexpr size_t kShown = 5;
  std::string out = fmt::format("{} faults that need no search:\n", faults.size());
  for (size_t i = 0; i < std::min(faults.size(), kShown); ++i) out += "  " + faults[i] + "\n";
  return out;
}

}  // namespace

CheckResult Check(const History& history, const CheckOptions& options) {
  const Digest digest = MakeDigest(history, options.revisions);
  if (!digest.unusable.empty()) return {.explanation = digest.unusable};
  if (!digest.faults.empty()) {
    return {.verdict = Verdict::kViolation, .explanation = Listed(digest.faults)};
  }
  Search search(digest, options.max_configurations, true);
  CheckResult result{.verdict = search.Run()};
  result.configurations = search.configurations();
  if (result.verdict == Verdict::kViolation) {
    Search closer(digest, options.max_configurations / 10, false);
    if (closer.Run() == Verdict::kLinearizable) {
      return {.explanation = "the searches disagree: a fault of the checker itself"};
    }
    result.explanation = Explainer(history, digest, closer.best()).Text();
  } else if (result.verdict == Verdict::kUndecided) {
    result.explanation = fmt::format("undecided after {} configurations", result.configurations);
  }
  return result;
}

}  // namespace berth::linear
