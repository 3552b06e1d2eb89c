// Finds out what became of an etcd Txn whose reply is lost, once the fence has made sure that
// nothing can become of it any more (fence.h).
//
// The lane's receipt is the Txn's own: it committed, at the receipt's mod_revision. What its
// members did then follows from the state before that revision, on which etcd evaluated their
// compares. An older receipt: it did not commit and never will. No receipt at all: somebody took
// this process for dead and tidied up; then it cannot be known.
//
// Waits, so it is called on the committer's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/etcd/context.h"
#include "store/etcd/grouping.h"

namespace berth::store::etcd {

struct Verdict {
  enum class Kind : uint8_t { kNotCommitted, kCommitted, kUnknown };

  Kind kind = Kind::kUnknown;
  int64_t mod = 0;                    // kCommitted.
  std::vector<MemberResult> members;  // kCommitted.
  base::Error error;                  // kUnknown.
};

class Resolver {
 public:
  /// `context` must outlive it.
  explicit Resolver(const Context& context) : context_(context) {}

  /// Asks until etcd has answered, calling `meanwhile` between attempts; nothing when the engine is
  /// closing.
  std::optional<Verdict> Find(const Group& group, const Envelope& envelope,
                              const std::function<void()>& meanwhile) const;

 private:
  std::optional<Verdict> Reconstruct(const Group& group, int64_t mod,
                                     const std::function<void()>& meanwhile) const;

  const Context& context_;
};

}  // namespace berth::store::etcd
