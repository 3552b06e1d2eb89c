#include "commit/merged_txn.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "codec/slot.h"
#include "commit/outcome.h"
#include "state/object.h"

namespace berth::commit {
namespace {

/// Size of all writes together. The rest is kept for the shared keys.
constexpr size_t kMaxBytes = store::kMaxTxnBytes / 2;

size_t BytesOf(const store::Txn& txn) {
  size_t bytes =
      store::kTxnItemBytes * (txn.compares.size() + txn.puts.size() + txn.deletes.size());
  for (const store::Compare& compare : txn.compares) bytes += compare.key.size();
  for (const store::Put& put : txn.puts) bytes += put.key.size() + put.value.size();
  for (const std::string& key : txn.deletes) bytes += key.size();
  return bytes;
}

}  // namespace

MergedTxnBuilder::MergedTxnBuilder(const state::Follower& follower,
                                   const state::Resources& resources, size_t max_items)
    : follower_(follower),
      resources_(resources),
      snapshot_(follower.Current()),
      max_items_(max_items) {}

MergedTxnBuilder::Added MergedTxnBuilder::Add(store::Txn& txn, size_t object_put,
                                              const std::vector<SharedPut>& shared) {
  if (!parts_.empty()) {
    if (Clashes(txn, shared)) return Added::kClashes;
    if (!HasRoom(txn, shared)) return Added::kFull;
  }
  if (IsOutdated(txn)) return Added::kOutdated;
  const Added applied = Apply(shared);
  if (applied == Added::kYes) Append(txn, object_put);
  return applied;
}

bool MergedTxnBuilder::Clashes(const store::Txn& txn, const std::vector<SharedPut>& shared) const {
  const auto used = [this](const std::string& key) {
    return uses_.contains(key) || shared_.contains(key);
  };
  const auto written = [this](const store::Compare& compare) {
    const auto use = uses_.find(compare.key);
    return use == uses_.end() ? shared_.contains(compare.key) : use->second.written;
  };
  const auto put = [&used](const store::Put& one) { return used(one.key); };
  const auto otherwise_used = [this](const SharedPut& one) { return uses_.contains(one.key); };
  return std::ranges::any_of(txn.puts, put) || std::ranges::any_of(txn.deletes, used) ||
         std::ranges::any_of(txn.compares, written) || std::ranges::any_of(shared, otherwise_used);
}

/// A compare that another write has already needs no room.
bool MergedTxnBuilder::HasRoom(const store::Txn& txn, const std::vector<SharedPut>& shared) const {
  size_t compares = txn_.compares.size() + shared_.size();
  size_t writes = txn_.puts.size() + fixed_.size() + txn_.deletes.size() + shared_.size() +
                  txn.puts.size() + txn.deletes.size();
  for (const store::Compare& compare : txn.compares)
    compares += uses_.contains(compare.key) ? 0 : 1;
  for (const SharedPut& put : shared) {
    const size_t added = shared_.contains(put.key) ? 0 : 1;
    compares += added;
    writes += added;
  }
  return compares <= max_items_ && writes <= max_items_ && bytes_ + BytesOf(txn) <= kMaxBytes;
}

bool MergedTxnBuilder::IsOutdated(const store::Txn& txn) const {
  return std::ranges::any_of(txn.compares, [this](const store::Compare& compare) {
    const auto use = uses_.find(compare.key);
    if (use != uses_.end() && use->second.compare) {
      return txn_.compares[*use->second.compare].revision != compare.revision;
    }
    if (state::RevisionOf(snapshot_->Find(compare.key)) == compare.revision.value) return false;
    return resources_.Find(compare.key).has_value();  // The snapshot has no other keys.
  });
}

/// Reads a shared key that no write of this transaction has changed yet from the snapshot.
std::optional<base::Error> MergedTxnBuilder::Read(const SharedPut& put, Shared& key) const {
  const state::ObjectPtr object = snapshot_->Find(put.key);
  if (!object && follower_.IsUndecodable(put.key)) {
    return UndecodableError(put.key);
  }
  key = {.before = state::RevisionOf(object)};
  if (object) key.stored = put.read(*object);
  return std::nullopt;
}

/// Makes the changes to all shared keys, or to none.
MergedTxnBuilder::Added MergedTxnBuilder::Apply(const std::vector<SharedPut>& shared) {
  std::vector<std::optional<std::string>> undo;  // The last needs none.
  for (const SharedPut& put : shared) {
    const auto [found, fresh] = shared_.try_emplace(put.key);
    std::optional<base::Error> error;
    if (fresh) error = Read(put, found->second);
    if (fresh && error) shared_.erase(found);
    base::Result<bool> applied = false;
    if (!error) {
      const bool last = &put == &shared.back();
      undo.push_back(last ? std::nullopt : found->second.stored);
      applied = put.apply(found->second.stored);
      if (applied && *applied) continue;
      undo.pop_back();
      if (!applied) error = std::move(applied.error());
    }
    for (size_t i = 0; i < undo.size(); ++i) {
      shared_.find(shared[i].key)->second.stored = std::move(undo[i]);
    }
    if (!error) return Added::kDecideAgain;
    failure_ = std::move(*error);
    return Added::kFailed;
  }
  for (const SharedPut& put : shared) ++shared_.find(put.key)->second.writes;
  return Added::kYes;
}

void MergedTxnBuilder::Append(store::Txn& txn, size_t object_put) {
  MergedTxn::Part part{.object_put = txn_.puts.size() + object_put,
                       .first_delete = txn_.deletes.size()};
  bytes_ += BytesOf(txn);
  for (const store::Put& put : txn.puts) uses_[put.key].written = true;
  for (const std::string& key : txn.deletes) uses_[key].written = true;
  for (store::Compare& compare : txn.compares) {
    Use& use = uses_[compare.key];
    if (!use.compare) {
      use.compare = txn_.compares.size();
      txn_.compares.push_back(std::move(compare));
    }
    part.compares.push_back(*use.compare);
  }
  for (store::Put& put : txn.puts) {
    (codec::FixedSlot(put.key) ? fixed_ : txn_.puts).push_back(std::move(put));
  }
  std::ranges::move(txn.deletes, std::back_inserter(txn_.deletes));
  parts_.push_back(std::move(part));
  txn = {};
}

MergedTxn MergedTxnBuilder::Build() {
  MergedTxn merged{.txn = std::move(txn_), .parts = std::move(parts_)};
  merged.first_shared_compare = merged.txn.compares.size();
  for (auto& [key, shared] : shared_) {
    if (shared.writes == 0) continue;
    merged.txn.compares.push_back({.key = key, .revision = {shared.before}});
    if (shared.stored) fixed_.push_back({.key = key, .value = std::move(*shared.stored)});
    merged.keys.push_back({.key = key, .before = shared.before});
  }
  std::ranges::sort(fixed_, {}, [](const store::Put& put) {
    return std::pair(codec::FixedSlot(put.key).value_or(0), std::string_view(put.key));
  });
  std::ranges::move(fixed_, std::back_inserter(merged.txn.puts));
  return merged;
}

}  // namespace berth::commit
