// Many transactions in one etcd Txn, as nested Txns: which may share, how the request is built, how
// the response is taken apart. Pure: values in, values out.
//
// etcd evaluates all nested compares on the state before the whole Txn, refuses a Txn that puts a
// key twice, and counts max(compares, writes, reads of the failure branch) at each level against
// --max-txn-ops, a nested level having what the level around it has left. So two transactions share
// only if neither writes a key the other compares or writes; then the Txn does what they would do
// one after the other, in any order.
//
// Revisions are to show them one after the other as well, none inside another. In an etcd revision
// all puts have lower ones than all deletes, and keys with a fixed slot come after the other puts:
// so of the transactions that both put and delete, or put such a key, a group has at most one. It
// comes after those that only put, and before those that only delete.
//
// A transaction alone is sent without nesting. If it has more writes than a level takes, they are
// spread over nested Txns without compares, which happen with it.
//
// Around every request is the envelope: compares of marker and fence, a put of the receipt.
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
#include "store/etcd/layout.h"
#include "store/types.h"

namespace berth::store::etcd {

/// No key has this mod_revision: a compare that cannot hold.
inline constexpr int64_t kNeverMod = -1;

/// What decides whether a transaction may share an etcd Txn with others. Keys as hashes: two that
/// fall together keep two transactions apart without need, nothing worse.
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

/// The keys of some transactions.
class KeySet {
 public:
  /// Whether one of them may not share an etcd Txn with this one.
  bool Clashes(const Shape& shape) const;
  void Add(const Shape& shape);

 private:
  absl::flat_hash_map<uint64_t, bool> written_;  // False: compared only.
};

struct Envelope {
  std::string marker_key;
  int64_t marker_mod = 0;
  std::string fence_key;
  int64_t fence_mod = 0;
  std::string receipt_key;
  std::string receipt;
};

struct Lease {
  int64_t id = 0;
  base::SteadyTime end;  // It does not expire earlier.
};
/// A lease for each ttl of a transaction.
using TxnLeases = std::map<std::chrono::seconds, Lease>;

/// What etcd made of one transaction.
struct MemberResult {
  bool succeeded = false;
  std::vector<bool> deleted;  // Of each delete, when it succeeded.
  std::vector<std::optional<etcdserverpb::KeyValue>> compared;  // Of each compare, when it did not.
};

/// What etcd made of a request.
struct Unpacked {
  enum class Kind : uint8_t {
    kDecided,    // `members` says what of each.
    kEnvelope,   // Nothing happened: marker or fence are not as compared, but as here.
    kMalformed,  // Not an answer to this request.
  };
  Kind kind = Kind::kMalformed;
  std::vector<MemberResult> members;
  std::optional<etcdserverpb::KeyValue> marker;
  std::optional<etcdserverpb::KeyValue> fence;
};

class Group {
 public:
  enum class Added : uint8_t { kYes, kNoRoom, kNever };

  struct Member {
    const Txn* txn = nullptr;
    std::vector<int64_t> mods;  // The mod_revision sent for each compare.
    std::vector<int> slots;     // Of each put.
  };

  /// `layout` must outlive it.
  explicit Group(const Layout& layout) : layout_(layout) {}

  /// Takes the transaction in, which must stay where it is until the replies are made. `mods` are
  /// the mod_revisions to compare with. kNoRoom: may not share with those already here. kNever:
  /// not even alone; WhyNever says why.
  Added Add(const Txn& txn, const Shape& shape, std::vector<int64_t> mods, const TxnLeases& leases);
  const base::Error& WhyNever() const { return never_; }

  bool Empty() const { return members_.empty(); }
  /// Whether even the smallest transaction finds no room any more.
  bool Full() const;
  const std::vector<Member>& Members() const { return members_; }

  /// Once; afterwards nothing can be added.
  etcdserverpb::TxnRequest TakeRequest(const Envelope& envelope);

  Unpacked Unpack(const etcdserverpb::TxnResponse& response, const Envelope& envelope) const;

  /// The reply to each member, given the mod_revision of what succeeded. Nothing for one whose
  /// compares all hold although it failed (see known.h): to be sent again.
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
  std::vector<Ops> writes_;     // Of each member, until the request is taken.
  std::optional<size_t> tail_;  // The one that comes after all other puts.
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

/// With no more compares and no more writes than this a transaction always fits.
size_t SureItems(size_t max_txn_ops);

/// Appends writes to the success branch of a request whose compares and failure branch are
/// complete: as they are, or spread over nested Txns. False, and nothing appended, when they do not
/// fit either way.
bool AppendWrites(google::protobuf::RepeatedPtrField<etcdserverpb::RequestOp> writes,
                  size_t max_txn_ops, etcdserverpb::TxnRequest& request);

}  // namespace berth::store::etcd
