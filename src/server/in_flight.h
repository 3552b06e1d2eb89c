// Limits how many requests are worked on at once, and shares the slots fairly among users. While
// fewer than half of the slots are taken, every user gets one. After that a user that is not alone
// gets no more than an equal share. A slot of the last tenth goes only to a user that holds less
// than its share would be if one more user came. A client that gets no slot is told to retry later.
//
// Threads: any. A Slot is released when it is destroyed.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace berth::server {

class InFlight {
 public:
  class Slot {
   public:
    Slot() = default;
    Slot(InFlight* of, std::string user) : of_(of), user_(std::move(user)) {}
    Slot(Slot&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), user_(std::move(other.user_)) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(user_, other.user_);
      return *this;
    }
    ~Slot() {
      if (of_ != nullptr) of_->Release(user_);
    }

   private:
    InFlight* of_ = nullptr;
    std::string user_;
  };

  /// Allows `limit` requests at once; 0 means any number. It must outlive its slots.
  explicit InFlight(size_t limit) : limit_(limit) {}

  /// Returns nullopt if there is no slot for this user.
  std::optional<Slot> Take(const std::string& user) EXCLUDES(mutex_);
  size_t Count() const EXCLUDES(mutex_);

 private:
  void Release(const std::string& user) EXCLUDES(mutex_);

  const size_t limit_;
  mutable base::Mutex mutex_;
  size_t count_ GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, size_t> by_user_ GUARDED_BY(mutex_);
};

}  // namespace berth::server
