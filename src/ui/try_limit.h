// Limits how often clients may try something: each one, and all of them together. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/clock.h"

namespace berth::ui {

/// A bucket holds `burst` tries and is refilled by `per_second`.
struct TryRate {
  double burst = 0;
  double per_second = 0;
};

struct TryLimits {
  TryRate of_client = {.burst = 10, .per_second = 0.2};
  TryRate of_all = {.burst = 100, .per_second = 5};
  size_t clients = 1000;  ///< Remembered. Beyond it those with most tries left are forgotten.
};

class TryLimit {
 public:
  explicit TryLimit(TryLimits limits);

  /// Takes a try. Returns false if none is left.
  bool Take(const std::string& client, base::SteadyTime now);

 private:
  struct Bucket {
    double left = 0;
    base::SteadyTime at = {};
  };

  static void Fill(Bucket& bucket, const TryRate& rate, base::SteadyTime now);
  void ForgetOne(base::SteadyTime now);

  const TryLimits limits_;
  Bucket all_;
  std::map<std::string, Bucket> clients_;
};

}  // namespace berth::ui
