#include "state/shared_text.h"

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <new>

#include "base/mutex.h"

namespace berth::state {

/// The head of an allocation. The text follows it.
struct SharedText::Entry {
  Entry(size_t hash_of_text, size_t text_size)
      : hash(hash_of_text), size(static_cast<uint32_t>(text_size)) {}

  std::string_view Text() const { return {reinterpret_cast<const char*>(this + 1), size}; }

  const size_t hash;  // Kept so that a table that grows need not read all texts.
  std::atomic<uint32_t> users{1};
  const uint32_t size;
};

namespace {

using Entry = SharedText::Entry;

/// A text to look for.
struct Wanted {
  size_t hash;
  std::string_view text;
};

struct HashOf {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
  size_t operator()(const Wanted& wanted) const { return wanted.hash; }
  size_t operator()(const Entry* entry) const { return entry->hash; }
};

struct IsSame {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
  bool operator()(const Entry* a, const Entry* b) const { return a == b; }
  bool operator()(const Entry* entry, const Wanted& wanted) const {
    return entry->hash == wanted.hash && entry->Text() == wanted.text;
  }
};

Entry* MakeEntry(const Wanted& wanted) {
  void* const memory = ::operator new(sizeof(Entry) + wanted.text.size());
  auto* const entry = new (memory) Entry(wanted.hash, wanted.text.size());
  wanted.text.copy(reinterpret_cast<char*>(entry + 1), wanted.text.size());
  return entry;
}

void FreeEntry(Entry* entry) {
  entry->~Entry();
  ::operator delete(entry);
}

/// One of the tables. Each has a part of the texts.
class Shard {
 public:
  Entry* Take(const Wanted& wanted) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    const auto found = entries_.find(wanted);
    if (found != entries_.end()) {
      (*found)->users.fetch_add(1, std::memory_order_relaxed);
      return *found;
    }
    return *entries_.insert(MakeEntry(wanted)).first;
  }

  /// Releases one use, and frees the entry if it was the last one. Only the lock makes that
  /// certain, because Take may add a user at any time.
  void GiveUp(Entry* entry) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    if (entry->users.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    entries_.erase(entry);
    FreeEntry(entry);
    // The table shrinks again after a time with many texts.
    constexpr size_t kSmall = 64;
    constexpr size_t kSparse = 8;
    if (entries_.capacity() > kSmall && entries_.size() < entries_.capacity() / kSparse) {
      entries_.rehash(0);
    }
  }

  size_t Count() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return entries_.size();
  }

 private:
  base::Mutex mutex_;
  absl::flat_hash_set<Entry*, HashOf, IsSame> entries_ GUARDED_BY(mutex_);
};

constexpr size_t kShards = 16;

/// Never destroyed, because objects may be destroyed later than static variables.
std::array<Shard, kShards>& Shards() {
  static auto& shards = *new std::array<Shard, kShards>();
  return shards;
}

/// Uses high bits of the hash, because the table inside a shard uses the low ones.
Shard& ShardOf(size_t hash) { return Shards()[hash >> 48 & (kShards - 1)]; }

Entry* TakeEntry(std::string_view text) {
  assert(text.size() <= UINT32_MAX);
  if (text.empty()) return nullptr;
  // absl's hash is salted per process, so that a client cannot prepare texts that collide.
  const Wanted wanted{.hash = absl::Hash<std::string_view>{}(text), .text = text};
  return ShardOf(wanted.hash).Take(wanted);
}

}  // namespace

SharedText::SharedText(std::string_view text) : entry_(TakeEntry(text)) {}

SharedText::~SharedText() {
  if (entry_ == nullptr) return;
  uint32_t users = entry_->users.load(std::memory_order_relaxed);
  while (users > 1) {
    if (entry_->users.compare_exchange_weak(users, users - 1, std::memory_order_acq_rel)) return;
  }
  ShardOf(entry_->hash).GiveUp(entry_);
}

std::string_view SharedText::Get() const {
  return entry_ == nullptr ? std::string_view() : entry_->Text();
}

size_t SharedText::ShareOfBytes() const {
  if (entry_ == nullptr) return 0;
  constexpr size_t kPlaceInTable = 32;  // Includes the allocator's overhead.
  return (sizeof(Entry) + kPlaceInTable + entry_->size) /
         entry_->users.load(std::memory_order_relaxed);
}

size_t SharedText::CountAll() {
  size_t count = 0;
  for (Shard& shard : Shards()) count += shard.Count();
  return count;
}

}  // namespace berth::state
