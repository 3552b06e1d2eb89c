// How many requests may be worked on at once, and a fair share of that for everybody: while there
// is room anybody may have it; once half is taken, nobody may hold more than an equal share; the
// last tenth is for those who hold less than their share would be if one more came. Who comes too
// much is told to come back.
//
// Threads: any. A Ticket gives back its place when it is destroyed.
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
  class Ticket {
   public:
    Ticket() = default;
    Ticket(InFlight* of, std::string user) : of_(of), user_(std::move(user)) {}
    Ticket(Ticket&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), user_(std::move(other.user_)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(user_, other.user_);
      return *this;
    }
    ~Ticket() {
      if (of_ != nullptr) of_->GiveBack(user_);
    }

   private:
    InFlight* of_ = nullptr;
    std::string user_;
  };

  /// `limit` requests at once; 0: any number. It must outlive its tickets.
  explicit InFlight(size_t limit) : limit_(limit) {}

  /// Nothing when there is no room for this user.
  std::optional<Ticket> Take(const std::string& user) EXCLUDES(mutex_);
  size_t Count() const EXCLUDES(mutex_);

 private:
  void GiveBack(const std::string& user) EXCLUDES(mutex_);

  const size_t limit_;
  mutable base::Mutex mutex_;
  size_t count_ GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, size_t> by_user_ GUARDED_BY(mutex_);
};

}  // namespace berth::server
