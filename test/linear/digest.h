// A history as the search needs it: keys and values as small numbers, each operation as what it
// demands of the state and what it does to it. Whatever can be told without a search is told here:
// values nobody wrote, one revision given twice, replies that do not fit their requests.
//
// Values are distinct, so the state of a key is the number of the put it holds; 0 is "does not
// exist". A compare with a revision becomes "holds the put that had this revision".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linear/history.h"
#include "store/types.h"

namespace berth::linear {

/// One put of the history.
struct PutFact {
  size_t key = 0;
  std::string value = {};
  size_t operation = 0;
  /// All that were reported for it; one, if all is well.
  std::vector<store::Revision> revisions = {};
  uint64_t seen_by = kNever;  // The first return of an operation that read it.
};

/// Holds if the key holds one of these puts, or, `negated`, none of them.
struct Condition {
  size_t key = 0;
  std::vector<size_t> puts = {};
  bool negated = false;
};

struct Effect {
  size_t key = 0;
  size_t put = 0;  // 0: deleted.
};

struct Step {
  size_t operation = 0;  // Its place in the history.
  uint64_t called = 0;
  uint64_t deadline = kNever;  // Happened before this.
  std::vector<Condition> conditions = {};
  std::vector<Effect> effects = {};
  bool optional = false;  // An open operation that nobody has seen the effect of.
  int64_t rank = -1;      // Its place among the writes, by revision; -1: not known.
  int64_t at_rank = -1;   // A scan's: so many ranked writes come before it; -1: not known.
  uint64_t touched = 0;   // A bit for each key it reads or writes.
};

struct Digest {
  std::vector<std::string> keys = {};
  std::vector<PutFact> puts = {};        // Put n is at n - 1.
  std::vector<Step> steps = {};          // In order of calls; what says nothing is left out.
  std::vector<std::string> faults = {};  // What is wrong, as far as no search is needed.
  std::string unusable = {};  // Why it cannot be checked: it is not as history.h asks for.
};

/// With `revisions`, writes are ranked by them and they are checked themselves; without, they only
/// say which put a compare meant.
Digest MakeDigest(const History& history, bool revisions);

}  // namespace berth::linear
