#include "store/check.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/go_text.h"
#include "store/keys.h"

namespace berth::store {
namespace {

using Refusal = std::optional<base::Error>;

Refusal Bad(std::string message) {
  return base::Error{.reason = base::Reason::kBadRequest, .message = std::move(message)};
}

Refusal TooLarge(std::string message) {
  return base::Error{.reason = base::Reason::kRequestEntityTooLarge, .message = std::move(message)};
}

/// Returns a key as messages show it. Keys may be long and hold any byte, so this returns enough of
/// the key to identify it.
std::string Shown(std::string_view key) {
  constexpr size_t kShownBytes = 100;
  if (key.size() <= kShownBytes) return base::GoQuoted(key);
  return fmt::format("{}... ({} bytes)", base::GoQuoted(key.substr(0, kShownBytes)), key.size());
}

/// Finds a key that occurs twice. A few keys are compared with each other, which needs no
/// allocation. Many keys are put into a set.
class SeenKeys {
 public:
  explicit SeenKeys(size_t expected) : hashed_(expected > few_.size()) {
    if (hashed_) set_.reserve(expected);
  }

  /// Adds a key. Returns whether it is new.
  bool Add(std::string_view key) {
    if (hashed_) return set_.insert(key).second;
    const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (std::find(few_.begin(), end, key) != end) return false;
    few_[count_++] = key;
    return true;
  }

 private:
  std::array<std::string_view, 16> few_;
  size_t count_ = 0;
  const bool hashed_;
  absl::flat_hash_set<std::string_view> set_;
};

Refusal CheckCount(std::string_view what, size_t count, size_t limit) {
  if (count <= limit) return std::nullopt;
  return TooLarge(
      fmt::format("a transaction may have at most {} {}, this one has {}", limit, what, count));
}

Refusal CheckCounts(const Txn& txn) {
  if (auto error = CheckCount("compares", txn.compares.size(), kMaxCompares)) return error;
  if (auto error = CheckCount("puts", txn.puts.size(), kMaxPuts)) return error;
  return CheckCount("deletes", txn.deletes.size(), kMaxDeletes);
}

Refusal CheckBytes(const Txn& txn) {
  size_t bytes = kTxnItemBytes * (txn.compares.size() + txn.puts.size() + txn.deletes.size());
  for (const Compare& compare : txn.compares) bytes += compare.key.size();
  for (const Put& put : txn.puts) bytes += put.key.size() + put.value.size();
  for (const std::string& key : txn.deletes) bytes += key.size();
  if (bytes <= kMaxTxnBytes) return std::nullopt;
  return TooLarge(
      fmt::format("a transaction may have at most {} bytes, this one has {}", kMaxTxnBytes, bytes));
}

/// Checks a key that a transaction names.
Refusal CheckTxnKey(std::string_view key) {
  if (auto error = CheckKey(key)) return error;
  if (!IsEngineKey(key)) return std::nullopt;
  return Bad(
      fmt::format("the key {} is the store's own and cannot be part of a transaction", Shown(key)));
}

Refusal CheckCompares(const Txn& txn) {
  SeenKeys compared(txn.compares.size());
  for (const Compare& compare : txn.compares) {
    if (auto error = CheckTxnKey(compare.key)) return error;
    if (compare.revision < Revision{}) {
      return Bad(fmt::format("the key {} is compared with revision {}: revisions are not negative",
                             Shown(compare.key), compare.revision.value));
    }
    if (!compared.Add(compare.key)) {
      return Bad(
          fmt::format("a transaction may compare a key only once, this one compares {} twice",
                      Shown(compare.key)));
    }
  }
  return std::nullopt;
}

Refusal CheckTtl(const Put& put) {
  if (put.ttl >= std::chrono::seconds{0} && put.ttl <= kMaxTtl) return std::nullopt;
  return Bad(fmt::format("the key {} has a ttl of {} s: it must be 0 to {} s", Shown(put.key),
                         put.ttl.count(), kMaxTtl.count()));
}

Refusal CheckWrites(const Txn& txn) {
  SeenKeys written(txn.puts.size() + txn.deletes.size());
  const auto check = [&written](std::string_view key) -> Refusal {
    if (auto error = CheckTxnKey(key)) return error;
    if (written.Add(key)) return std::nullopt;
    return Bad(fmt::format("a transaction may write a key only once, this one writes {} twice",
                           Shown(key)));
  };
  for (const Put& put : txn.puts) {
    if (auto error = check(put.key)) return error;
    if (auto error = CheckTtl(put)) return error;
  }
  for (const std::string& key : txn.deletes) {
    if (auto error = check(key)) return error;
  }
  return std::nullopt;
}

}  // namespace

std::optional<base::Error> CheckTxn(const Txn& txn) {
  if (auto error = CheckCounts(txn)) return error;
  if (auto error = CheckBytes(txn)) return error;
  if (auto error = CheckCompares(txn)) return error;
  return CheckWrites(txn);
}

std::optional<base::Error> CheckScan(const ScanRequest& request) {
  // A prefix may be empty and need not be a whole key. Otherwise the rules for keys apply.
  if (!request.prefix.empty()) {
    if (auto error = CheckKey(request.prefix)) return error;
  }
  if (!request.after.empty()) {
    if (auto error = CheckKey(request.after)) return error;
  }
  if (request.limit < 1 || request.limit > kMaxPageEntries) {
    return Bad(fmt::format("a page may have 1 to {} entries, this request asks for {}",
                           kMaxPageEntries, request.limit));
  }
  if (request.at < Revision{}) {
    return Bad(
        fmt::format("revision {} cannot be read: revisions are not negative", request.at.value));
  }
  return std::nullopt;
}

std::optional<base::Error> CheckKey(std::string_view key) {
  if (key.empty()) return Bad("a key must not be empty");
  if (key.size() > kMaxKeyBytes) {
    return Bad(fmt::format("a key may have at most {} bytes: {}", kMaxKeyBytes, Shown(key)));
  }
  if (key.find('\0') != std::string_view::npos) {
    return Bad(fmt::format("a key must not hold a NUL byte: {}", Shown(key)));
  }
  return std::nullopt;
}

base::Error CompactedError(Revision asked, Revision compacted) {
  return base::Error{
      .reason = base::Reason::kExpired,
      .message = fmt::format("revision {} is too old: history up to {} has been given up; start "
                             "over from the present",
                             asked.value, compacted.value)};
}

base::Error FutureError(Revision asked, Revision current) {
  return base::Error{.reason = base::Reason::kBadRequest,
                     .message = fmt::format("revision {} lies in the future: the store is at {}",
                                            asked.value, current.value)};
}

}  // namespace berth::store
