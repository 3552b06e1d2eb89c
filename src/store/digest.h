// What is in a store, in short: how much of which kind, and a checksum that says whether two stores
// hold the same, whatever their engines and revisions. Not thread-safe.
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

/// Brings a value into the one form in which it is compared and moved: without what an engine noted
/// in it (store/slot.h). Empty: values are as they should be.
using Normalise = std::function<void(std::string_view key, std::string& value)>;

using Sha256Sum = std::array<unsigned char, 32>;

/// "9f86d081...": 64 digits.
std::string HexText(const Sha256Sum& sum);

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;

  void Add(std::string_view bytes);

  /// Of what was added so far; more may follow.
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

/// "services", "ipaddresses", "ipranges.allocation.berth.io": the resource a key belongs to, as
/// Kubernetes names it where a key tells; "berth.io" for Berth's own notes; the key itself when it
/// is none of these.
std::string KindOfKey(std::string_view key);

class StateSummary {
 public:
  /// In the order of keys, each once.
  void Add(const Entry& entry);

  uint64_t keys() const { return keys_; }
  uint64_t bytes() const { return bytes_; }
  /// Keys that expire, of keys().
  uint64_t expiring() const { return expiring_; }
  const std::map<std::string, KindCount>& kinds() const { return kinds_; }

  /// SHA-256 over every key and value that does not expire: what does is not the same from one
  /// moment to the next. Each is hashed behind its length (8 bytes, little-endian).
  Sha256Sum Checksum() const { return hash_.Sum(); }

 private:
  Sha256 hash_;
  uint64_t keys_ = 0;
  uint64_t bytes_ = 0;
  uint64_t expiring_ = 0;
  std::map<std::string, KindCount> kinds_;
};

}  // namespace berth::store
