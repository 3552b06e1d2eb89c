// A history in the form that the search needs: keys and values as small numbers, and each operation
// as what it demands of the state and what it does to it. Faults that need no search are found
// here: values that were never written, the same revision twice, replies that do not match their
// requests.
//
// Values are distinct, so the state of a key is the number of the put that it has; 0 means that it
// does not exist. A compare with a revision becomes "has the put that had this revision".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linear/linear_history.h"
#include "store/types.h"

namespace berth::linear {

/// One put of the history.
struct PutFact {
  size_t key = 0;
  std::string value = {};
  size_t operation = 0;
  /// All revisions that were reported for it. There is one if all is well.
  std::vector<store::Revision> revisions = {};
  uint64_t seen_by = kNever;  // The first return of an operation that read it.
};

/// Holds if the key has one of these puts or, if `negated`, none of them.
struct Condition {
  size_t key = 0;
  std::vector<size_t> puts = {};
  bool negated = false;
};

struct Effect {
  size_t key = 0;
  size_t put = 0;  // 0 means deleted.
};

struct Step {
  size_t operation = 0;  // Its index in the history.
  uint64_t called = 0;
  uint64_t deadline = kNever;  // It happened before this.
  std::vector<Condition> conditions = {};
  std::vector<Effect> effects = {};
  bool optional = false;  // An open operation whose effect was never seen.
  int64_t rank = -1;      // Its position among the writes, by revision; -1 if unknown.
  int64_t at_rank = -1;   // For a scan: number of ranked writes before it; -1 if unknown.
  uint64_t touched = 0;   // A bit for each key that it reads or writes.
};

struct Digest {
  std::vector<std::string> keys = {};
  std::vector<PutFact> puts = {};  // Put n is at n - 1.
  /// In the order of calls; operations that show nothing are left out.
  std::vector<Step> steps = {};
  std::vector<std::string> faults = {};  // Faults that need no search.
  /// Why the history cannot be checked: it is not as history.h requires.
  std::string unusable = {};
};

/// Makes the digest. With `revisions`, writes are ranked by them, and the revisions are checked
/// too. Without, revisions only identify the put that a compare meant.
Digest MakeDigest(const History& history, bool revisions);

}  // namespace berth::linear
