// Many transactions in one etcd Txn, as nested Txns: which of them may share a Txn, how the request
// is built, and how the response is taken apart. Pure functions of values.
//
// etcd evaluates all nested compares on the state before the whole Txn, and refuses a Txn that puts
// a key twice. At each level it counts max(compares, writes, reads of the failure branch) against
// --max-txn-ops, and a nested level has what the level around it has left. So two transactions
// share a Txn only if neither writes a key that the other compares or writes. Then the Txn does
// what they would do one after the other, in any order.
//
// Revisions must also show the transactions one after the other, none inside another. In an etcd
// revision all puts have lower revisions than all deletes, and keys with a fixed slot come after
// the other puts. So a group has at most one transaction that both puts and deletes, or that puts a
// key with a fixed slot. It comes after those that only put, and before those that only delete.
//
// A single transaction is sent without nesting. If it has more writes than a level allows, they are
// spread over nested Txns without compares, which take effect together with it.
//
// Every request is wrapped in the envelope: compares of the marker and of the epoch key, and a put
// of the receipt.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/etcd/etcd_layout.h"
#include "store/types.h"

namespace berth::store::etcd {

/// No key has this mod_revision. A compare with it always fails.
inline constexpr int64_t kNeverMod = -1;

/// What decides whether a transaction may share an etcd Txn with others. Keys are hashes. If the
/// hashes of two keys collide, two transactions are kept apart without need, and that is all.
struct Shape {
  std::vector<uint64_t> compares;
  std::vector<uint64_t> writes;
  size_t puts = 0;
  size_t deletes = 0;
  size_t bytes = 0;
  bool leased = false;

  size_t Width() const { return std::max(compares.size(), writes.size()); }
};
Shape ShapeOf(const Txn& txn);

/// The keys of several transactions.
class KeySet {
 public:
  /// Returns whether one of them may not share an etcd Txn with the transaction of this shape.
  bool Clashes(const Shape& shape) const;
  void Add(const Shape& shape);

 private:
  absl::flat_hash_map<uint64_t, bool> written_;  // False if the key is only compared.
};

struct Envelope {
  std::string marker_key;
  int64_t marker_mod = 0;
  std::string epoch_key;
  int64_t epoch_mod = 0;
  std::string receipt_key;
  std::string receipt;
};

struct Lease {
  int64_t id = 0;
  base::SteadyTime end;  // The lease does not expire earlier.
};
/// A lease for each ttl in a transaction.
using TxnLeases = std::map<std::chrono::seconds, Lease>;

/// etcd's result for one transaction.
struct MemberResult {
  bool succeeded = false;
  std::vector<bool> deleted;  // For each delete, if the transaction succeeded.
  /// For each compare, if the transaction failed.
  std::vector<std::optional<etcdserverpb::KeyValue>> compared;
};

/// etcd's result for a request.
struct Unpacked {
  enum class Kind : uint8_t {
    kDecided,  // `members` has the result of each.
    /// Nothing happened, because the marker or the epoch key had changed. Their current state is
    /// below.
    kEnvelope,
    kMalformed,  // The response does not match this request.
  };
  Kind kind = Kind::kMalformed;
  std::vector<MemberResult> members;
  std::optional<etcdserverpb::KeyValue> marker;
  std::optional<etcdserverpb::KeyValue> epoch;
};

class Group {
 public:
  enum class Added : uint8_t { kYes, kNoRoom, kNever };

  struct Member {
    const Txn* txn = nullptr;
    std::vector<int64_t> mods;  // The mod_revision sent for each compare.
    std::vector<int> slots;     // The slot of each put.
  };

  /// `layout` must outlive the object.
  explicit Group(const Layout& layout) : layout_(layout) {}

  /// Adds the transaction, which must stay in place until the replies are made. `mods` are the
  /// mod_revisions to compare with. Returns kNoRoom if it may not share with those already in the
  /// group, and kNever if it cannot even be sent alone; then WhyNever returns the reason.
  Added Add(const Txn& txn, const Shape& shape, std::vector<int64_t> mods, const TxnLeases& leases);
  const base::Error& WhyNever() const { return never_; }

  bool Empty() const { return members_.empty(); }
  /// Returns whether there is no room even for the smallest transaction.
  bool Full() const;
  const std::vector<Member>& Members() const { return members_; }

  /// Builds the request. May be called once; afterwards nothing can be added.
  etcdserverpb::TxnRequest TakeRequest(const Envelope& envelope);

  Unpacked Unpack(const etcdserverpb::TxnResponse& response, const Envelope& envelope) const;

  /// Returns the reply to each member, given the mod_revision of the writes that succeeded. The
  /// reply is nullopt for a member that failed although all its compares hold (see known.h). It
  /// must be sent again.
  std::vector<std::optional<TxnReply>> Replies(int64_t mod,
                                               const std::vector<MemberResult>& results) const;

 private:
  using Ops = google::protobuf::RepeatedPtrField<etcdserverpb::RequestOp>;

  bool HasRoom(const Shape& shape) const;
  bool AddPuts(const Txn& txn, const TxnLeases& leases, Member& member, Ops& writes);
  Added Never(base::Reason reason, std::string message);
  void FinishTail();
  std::vector<size_t> Order() const;
  etcdserverpb::TxnRequest Alone(const Envelope& envelope);
  etcdserverpb::TxnRequest Nested(const Envelope& envelope);
  TxnReply Committed(const Member& member, const MemberResult& result, int64_t mod,
                     int& deletes) const;
  std::optional<TxnReply> Conflicted(const Member& member, const MemberResult& result) const;

  const Layout& layout_;
  std::vector<Member> members_;
  std::vector<Ops> writes_;     // Writes of each member, until the request is taken.
  std::optional<size_t> tail_;  // The member that comes after all other puts.
  TxnLeases tail_leases_;
  KeySet keys_;
  int next_slot_ = 0;
  size_t puts_ = 0;
  size_t deletes_ = 0;
  size_t bytes_ = 0;
  size_t width_ = 0;
  bool shares_ = true;
  base::Error never_;
};

/// Returns how many compares and how many writes a transaction may have so that it always fits.
size_t SureItems(size_t max_txn_ops);

/// Appends writes to the success branch of a request whose compares and failure branch are
/// complete, either directly or spread over nested Txns. Returns false and appends nothing if they
/// do not fit either way.
bool AppendWrites(google::protobuf::RepeatedPtrField<etcdserverpb::RequestOp> writes,
                  size_t max_txn_ops, etcdserverpb::TxnRequest& request);

}  // namespace berth::store::etcd
