// A summary of a store: counts for each kind, and a checksum. Two stores with equal checksums hold
// the same state, whatever their engines and revisions. Not thread-safe.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "store/types.h"

namespace berth::store {

/// Brings a value into the form in which it is compared and copied: without the notes of an engine
/// (store/event_slot.h). An empty function means that values are in that form already.
using Normalise = std::function<void(std::string_view key, std::string& value)>;

using Sha256Sum = std::array<unsigned char, 32>;

/// Returns the sum as 64 hexadecimal digits: "9f86d081...".
std::string HexText(const Sha256Sum& sum);

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;

  void Add(std::string_view bytes);

  /// Returns the sum of all bytes added so far. More bytes may be added afterwards.
  Sha256Sum Sum() const;

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

struct KindCount {
  uint64_t keys = 0;
  uint64_t bytes = 0;  // Of keys and values.
};

/// Returns the resource that a key belongs to, as Kubernetes names it: "services", "ipaddresses",
/// "ipranges.allocation.berth.io". Returns "berth.io" for Berth's own notes, and the key itself if
/// the key is neither.
std::string KindOfKey(std::string_view key);

class StateSummary {
 public:
  /// Adds an entry. Entries must be added in the order of keys, each once.
  void Add(const Entry& entry);

  uint64_t keys() const { return keys_; }
  uint64_t bytes() const { return bytes_; }
  /// Returns how many of the keys expire.
  uint64_t expiring() const { return expiring_; }
  const std::map<std::string, KindCount>& kinds() const { return kinds_; }

  /// Returns the SHA-256 over every key and value that does not expire. Keys that expire are left
  /// out because they differ from one moment to the next. The length of each key and value (8
  /// bytes, little-endian) is hashed before its bytes.
  Sha256Sum Checksum() const { return hash_.Sum(); }

 private:
  Sha256 hash_;
  uint64_t keys_ = 0;
  uint64_t bytes_ = 0;
  uint64_t expiring_ = 0;
  std::map<std::string, KindCount> kinds_;
};

}  // namespace berth::store
