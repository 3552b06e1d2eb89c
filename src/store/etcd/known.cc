#include "store/etcd/known.h"

#include <bit>
#include <functional>

namespace berth::store::etcd {
namespace {

/// The last step of SplitMix64: every bit of the result depends on every bit of the input.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

KnownRevisions::KnownRevisions(size_t entries, uint64_t seed)
    : seed_(seed),
      buckets_(std::bit_ceil(entries / kWays + 1)),
      table_(std::make_unique<std::atomic<uint64_t>[]>(buckets_ * kWays)) {}

uint64_t KnownRevisions::Fingerprint(std::string_view key, Revision revision) const {
  const uint64_t hash =
      Mix(Mix(std::hash<std::string_view>{}(key) ^ seed_) + static_cast<uint64_t>(revision.value));
  return hash == 0 ? 1 : hash;  // 0 marks an empty place.
}

std::atomic<uint64_t>* KnownRevisions::Bucket(uint64_t fingerprint) const {
  return &table_[(fingerprint & (buckets_ - 1)) * kWays];
}

void KnownRevisions::Note(std::string_view key, Revision revision) {
  const uint64_t fingerprint = Fingerprint(key, revision);
  std::atomic<uint64_t>* bucket = Bucket(fingerprint);
  // The newest entry is first, and the oldest of the bucket is dropped.
  uint64_t moving = fingerprint;
  for (size_t way = 0; way < kWays; ++way) {
    moving = bucket[way].exchange(moving, std::memory_order_relaxed);
    if (moving == 0 || moving == fingerprint) return;
  }
}

bool KnownRevisions::Has(std::string_view key, Revision revision) const {
  const uint64_t fingerprint = Fingerprint(key, revision);
  const std::atomic<uint64_t>* bucket = Bucket(fingerprint);
  for (size_t way = 0; way < kWays; ++way) {
    if (bucket[way].load(std::memory_order_relaxed) == fingerprint) return true;
  }
  return false;
}

}  // namespace berth::store::etcd
