#include "store/etcd/grouping.h"

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

using Ops = google::protobuf::RepeatedPtrField<pb::RequestOp>;
using Responses = google::protobuf::RepeatedPtrField<pb::ResponseOp>;

/// The marker and the epoch key. Every request compares them, and reads them if the compare fails.
constexpr int kEnvelopeCompares = 2;
constexpr int kReceiptPuts = 1;

uint64_t HashOf(std::string_view key) { return std::hash<std::string_view>{}(key); }

void AddCompare(std::string key, int64_t mod, pb::TxnRequest& txn) {
  pb::Compare& compare = *txn.add_compare();
  compare.set_result(pb::Compare::EQUAL);
  compare.set_target(pb::Compare::MOD);
  compare.set_key(std::move(key));
  compare.set_mod_revision(mod);
}

/// Adds a read without a revision. If a Txn read at a fixed revision, the members of etcd would
/// differ once that revision is compacted.
void AddFailureRead(std::string key, pb::TxnRequest& txn) {
  txn.add_failure()->mutable_request_range()->set_key(std::move(key));
}

void AddCompares(const KeyMap& keys, const Group::Member& member, pb::TxnRequest& txn) {
  for (size_t i = 0; i < member.mods.size(); ++i) {
    const std::string key = keys.ToEtcd(member.txn->compares[i].key);
    AddCompare(key, member.mods[i], txn);
    AddFailureRead(key, txn);
  }
}

void AddEnvelope(const Envelope& envelope, pb::TxnRequest& txn) {
  AddCompare(envelope.marker_key, envelope.marker_mod, txn);
  AddCompare(envelope.epoch_key, envelope.epoch_mod, txn);
  AddFailureRead(envelope.marker_key, txn);
  AddFailureRead(envelope.epoch_key, txn);
  pb::PutRequest& receipt = *txn.add_success()->mutable_request_put();
  receipt.set_key(envelope.receipt_key);
  receipt.set_value(envelope.receipt);
}

void Move(Ops& from, int begin, int end, Ops& to) {
  for (int i = begin; i < end; ++i) *to.Add() = std::move(*from.Mutable(i));
}

/// Returns how many writes go into each nested Txn so that all fit. Returns 0 if no nesting is
/// needed, and nullopt if they do not fit at all. `top` is the number of the level's compares,
/// `before` that of its other writes.
std::optional<size_t> SpreadOf(size_t top, size_t before, size_t writes, size_t max_ops) {
  if (std::max(top, before + writes) <= max_ops) return 0;
  for (size_t each = 1; each < max_ops; ++each) {
    const size_t chunks = (writes + each - 1) / each;
    if (std::max(top, before + chunks) + each <= max_ops) return each;
  }
  return std::nullopt;
}

/// Stores the result of a read in the failure branch. Returns false if the response is not a read.
bool ReadOne(const pb::ResponseOp& op, std::optional<pb::KeyValue>& found) {
  if (!op.has_response_range()) return false;
  const pb::RangeResponse& range = op.response_range();
  if (range.kvs_size() > 0) found = range.kvs(0);
  return true;
}

/// Collects the results of deletes, nested ones included, in order.
void CollectDeletes(const pb::ResponseOp& op, std::vector<bool>& deleted) {
  if (op.has_response_delete_range()) {
    deleted.push_back(op.response_delete_range().deleted() > 0);
  } else if (op.has_response_txn()) {
    for (const pb::ResponseOp& inner : op.response_txn().responses()) {
      CollectDeletes(inner, deleted);
    }
  }
}

/// Makes a member's result from its responses, those from `first` on. Returns false if they do not
/// match the request.
bool UnpackMember(const Group::Member& member, bool succeeded, const Responses& responses,
                  int first, MemberResult& result) {
  result.succeeded = succeeded;
  if (succeeded) {
    for (int i = first; i < responses.size(); ++i) CollectDeletes(responses[i], result.deleted);
    return result.deleted.size() == member.txn->deletes.size();
  }
  if (static_cast<size_t>(responses.size() - first) != member.txn->compares.size()) return false;
  for (int i = first; i < responses.size(); ++i) {
    if (!ReadOne(responses[i], result.compared.emplace_back())) return false;
  }
  return true;
}

bool IsMod(const std::optional<pb::KeyValue>& kv, int64_t mod) {
  return (kv ? kv->mod_revision() : 0) == mod;
}

bool Holds(const Compare& compare, const std::optional<Entry>& current) {
  return compare.revision == (current ? current->revision : Revision{});
}

}  // namespace

Shape ShapeOf(const Txn& txn) {
  Shape shape;
  shape.puts = txn.puts.size();
  shape.deletes = txn.deletes.size();
  shape.compares.reserve(txn.compares.size());
  shape.writes.reserve(txn.puts.size() + txn.deletes.size());
  for (const Compare& compare : txn.compares) {
    shape.compares.push_back(HashOf(compare.key));
    shape.bytes += compare.key.size();
  }
  for (const Put& put : txn.puts) {
    shape.writes.push_back(HashOf(put.key));
    shape.bytes += put.key.size() + put.value.size();
    shape.leased = shape.leased || put.ttl.count() != 0;
  }
  for (const std::string& key : txn.deletes) {
    shape.writes.push_back(HashOf(key));
    shape.bytes += key.size();
  }
  shape.bytes += kTxnItemBytes * (shape.compares.size() + shape.writes.size());
  return shape;
}

bool KeySet::Clashes(const Shape& shape) const {
  for (const uint64_t key : shape.writes) {
    if (written_.contains(key)) return true;
  }
  for (const uint64_t key : shape.compares) {
    const auto found = written_.find(key);
    if (found != written_.end() && found->second) return true;
  }
  return false;
}

void KeySet::Add(const Shape& shape) {
  for (const uint64_t key : shape.compares) written_.try_emplace(key, false);
  for (const uint64_t key : shape.writes) written_[key] = true;
}

size_t SureItems(size_t max_txn_ops) { return max_txn_ops - kEnvelopeCompares; }

bool AppendWrites(Ops writes, size_t max_txn_ops, pb::TxnRequest& request) {
  const auto top = static_cast<size_t>(std::max(request.compare_size(), request.failure_size()));
  const auto before = static_cast<size_t>(request.success_size());
  const auto each = SpreadOf(top, before, static_cast<size_t>(writes.size()), max_txn_ops);
  if (!each) return false;
  if (*each == 0) {
    Move(writes, 0, writes.size(), *request.mutable_success());
    return true;
  }
  const int step = static_cast<int>(*each);
  for (int begin = 0; begin < writes.size(); begin += step) {
    Move(writes, begin, std::min(begin + step, writes.size()),
         *request.add_success()->mutable_request_txn()->mutable_success());
  }
  return true;
}

Group::Added Group::Never(base::Reason reason, std::string message) {
  never_ = {.reason = reason, .message = std::move(message)};
  return Added::kNever;
}

bool Group::HasRoom(const Shape& shape) const {
  const size_t siblings = members_.size() + 1 + kReceiptPuts;
  return shares_ && !shape.leased &&
         siblings + std::max(width_, shape.Width()) <= layout_.max_txn_ops &&
         puts_ + shape.puts <= kMaxPuts && deletes_ + shape.deletes <= kMaxDeletes &&
         bytes_ + shape.bytes <= kMaxTxnBytes && !keys_.Clashes(shape);
}

bool Group::Full() const {
  return !shares_ ||
         members_.size() + 1 + kReceiptPuts + std::max<size_t>(width_, 1) > layout_.max_txn_ops;
}

/// Adds the puts with the next slots. Returns false if their revisions would not rise.
bool Group::AddPuts(const Txn& txn, const TxnLeases& leases, Member& member, Ops& writes) {
  for (const Put& put : txn.puts) {
    pb::PutRequest& request = *writes.Add()->mutable_request_put();
    request.set_key(layout_.keys.ToEtcd(put.key));
    request.set_value(put.value);
    if (put.ttl.count() != 0) request.set_lease(leases.at(put.ttl).id);
    const int slot = layout_.slots.write(put.key, *request.mutable_value(), next_slot_);
    if (slot == next_slot_) ++next_slot_;
    if (!member.slots.empty() && slot <= member.slots.back()) return false;
    member.slots.push_back(slot);
  }
  for (const std::string& key : txn.deletes) {
    writes.Add()->mutable_request_delete_range()->set_key(layout_.keys.ToEtcd(key));
  }
  return true;
}

Group::Added Group::Add(const Txn& txn, const Shape& shape, std::vector<int64_t> mods,
                        const TxnLeases& leases) {
  if (members_.empty()) {
    if (!SpreadOf(shape.compares.size() + kEnvelopeCompares, kReceiptPuts, shape.writes.size(),
                  layout_.max_txn_ops)) {
      return Never(base::Reason::kRequestEntityTooLarge,
                   fmt::format("a transaction of {} compares and {} writes does not fit into one "
                               "of etcd's with --etcd-max-txn-ops={}; raise that, and etcd's "
                               "--max-txn-ops with it, or write less at once",
                               shape.compares.size(), shape.writes.size(), layout_.max_txn_ops));
    }
  } else if (!HasRoom(shape)) {
    return Added::kNoRoom;
  }
  Member member{.txn = &txn, .mods = std::move(mods), .slots = {}};
  Ops writes;
  const int first_slot = next_slot_;
  const bool rises = AddPuts(txn, leases, member, writes);
  const bool fixed = !member.slots.empty() && member.slots.back() >= next_slot_;
  const bool tail = fixed || (shape.puts > 0 && shape.deletes > 0);
  if (!rises || tail) next_slot_ = first_slot;
  if (!rises) {
    return Never(base::Reason::kBadRequest,
                 "keys that are not API objects have fixed slots after the other puts of a "
                 "transaction; they must come last and in the order of these slots");
  }
  if (tail) {
    if (tail_) return Added::kNoRoom;
    tail_ = members_.size();
    tail_leases_ = leases;
  }
  keys_.Add(shape);
  puts_ += shape.puts;
  deletes_ += shape.deletes;
  bytes_ += shape.bytes;
  width_ = std::max(width_, shape.Width());
  shares_ = shares_ && !shape.leased;
  members_.push_back(std::move(member));
  writes_.push_back(std::move(writes));
  return Added::kYes;
}

/// Assigns slots to the tail, now that the slots of the others are known.
void Group::FinishTail() {
  if (!tail_) return;
  Member& member = members_[*tail_];
  member.slots.clear();
  writes_[*tail_].Clear();
  AddPuts(*member.txn, tail_leases_, member, writes_[*tail_]);
}

/// Returns the members in the order in which etcd must run them.
std::vector<size_t> Group::Order() const {
  std::vector<size_t> order;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (i != tail_ && !members_[i].slots.empty()) order.push_back(i);
  }
  if (tail_) order.push_back(*tail_);
  for (size_t i = 0; i < members_.size(); ++i) {
    if (i != tail_ && members_[i].slots.empty()) order.push_back(i);
  }
  return order;
}

pb::TxnRequest Group::TakeRequest(const Envelope& envelope) {
  FinishTail();
  return members_.size() == 1 ? Alone(envelope) : Nested(envelope);
}

pb::TxnRequest Group::Alone(const Envelope& envelope) {
  pb::TxnRequest request;
  AddEnvelope(envelope, request);
  AddCompares(layout_.keys, members_.front(), request);
  AppendWrites(std::move(writes_.front()), layout_.max_txn_ops, request);
  return request;
}

pb::TxnRequest Group::Nested(const Envelope& envelope) {
  pb::TxnRequest request;
  AddEnvelope(envelope, request);
  for (const size_t i : Order()) {
    pb::TxnRequest& txn = *request.add_success()->mutable_request_txn();
    AddCompares(layout_.keys, members_[i], txn);
    txn.mutable_success()->Swap(&writes_[i]);
  }
  return request;
}

Unpacked Group::Unpack(const pb::TxnResponse& response, const Envelope& envelope) const {
  Unpacked unpacked;
  const Responses& responses = response.responses();
  const bool alone = members_.size() == 1;
  const size_t expected = alone ? 1 : members_.size() + kReceiptPuts;
  if (!response.succeeded()) {
    if (responses.size() < static_cast<int>(kEnvelopeCompares) ||
        !ReadOne(responses[0], unpacked.marker) || !ReadOne(responses[1], unpacked.epoch)) {
      return unpacked;
    }
    if (!alone || !IsMod(unpacked.marker, envelope.marker_mod) ||
        !IsMod(unpacked.epoch, envelope.epoch_mod)) {
      unpacked.kind = Unpacked::Kind::kEnvelope;
      return unpacked;
    }
  } else if (static_cast<size_t>(responses.size()) < expected) {
    return unpacked;
  }
  unpacked.members.resize(members_.size());
  if (alone) {
    const int first = response.succeeded() ? kReceiptPuts : kEnvelopeCompares;
    if (!UnpackMember(members_[0], response.succeeded(), responses, first, unpacked.members[0])) {
      return unpacked;
    }
  } else {
    int place = kReceiptPuts;
    for (const size_t i : Order()) {
      const pb::TxnResponse& inner = responses[place++].response_txn();
      if (!UnpackMember(members_[i], inner.succeeded(), inner.responses(), 0,
                        unpacked.members[i])) {
        return unpacked;
      }
    }
  }
  unpacked.kind = Unpacked::Kind::kDecided;
  return unpacked;
}

TxnReply Group::Committed(const Member& member, const MemberResult& result, int64_t mod,
                          int& deletes) const {
  TxnReply reply{.outcome = Outcome::kCommitted};
  for (const int slot : member.slots) reply.puts.push_back(layout_.revisions.At(mod, slot));
  for (const bool deleted : result.deleted) {
    reply.deletes.push_back(deleted ? layout_.revisions.At(mod, kFirstDeleteSlot + deletes++)
                                    : Revision{});
  }
  return reply;
}

std::optional<TxnReply> Group::Conflicted(const Member& member, const MemberResult& result) const {
  TxnReply reply{.outcome = Outcome::kConflict};
  for (size_t i = 0; i < result.compared.size(); ++i) {
    std::optional<Entry> current;
    if (result.compared[i]) current = layout_.EntryOf(*result.compared[i]);
    if (Holds(member.txn->compares[i], current)) continue;
    reply.conflicts.push_back({.compare = i, .current = std::move(current)});
  }
  if (reply.conflicts.empty()) return std::nullopt;
  return reply;
}

std::vector<std::optional<TxnReply>> Group::Replies(
    int64_t mod, const std::vector<MemberResult>& results) const {
  std::vector<std::optional<TxnReply>> replies(members_.size());
  int deletes = 0;
  for (const size_t i : Order()) {
    replies[i] = results[i].succeeded ? Committed(members_[i], results[i], mod, deletes)
                                      : Conflicted(members_[i], results[i]);
  }
  return replies;
}

}  // namespace berth::store::etcd
