// Resolves the outcome of an etcd Txn whose reply was lost, once a new epoch has made sure that the
// Txn can no longer take effect (epoch.h).
//
// If the lane's receipt is the Txn's own, the Txn committed at the receipt's mod_revision. The
// results of its members follow from the state before that revision, on which etcd evaluated their
// compares. If the receipt is an older one, the Txn did not commit and never will. If there is no
// receipt at all, another process took this one for dead and deleted its receipts. Then the outcome
// cannot be known.
//
// Blocks, so only the committer's thread calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/grouping.h"

namespace berth::store::etcd {

struct Verdict {
  enum class Kind : uint8_t { kNotCommitted, kCommitted, kUnknown };

  Kind kind = Kind::kUnknown;
  int64_t mod = 0;                    // If kCommitted.
  std::vector<MemberResult> members;  // If kCommitted.
  base::Error error;                  // If kUnknown.
};

class Resolver {
 public:
  /// `context` must outlive the object.
  explicit Resolver(const Context& context) : context_(context) {}

  /// Asks until etcd has answered, and calls `meanwhile` between attempts. Returns nullopt if the
  /// engine is closing.
  std::optional<Verdict> Find(const Group& group, const Envelope& envelope,
                              const std::function<void()>& meanwhile) const;

 private:
  std::optional<Verdict> Reconstruct(const Group& group, int64_t mod,
                                     const std::function<void()>& meanwhile) const;

  const Context& context_;
};

}  // namespace berth::store::etcd
