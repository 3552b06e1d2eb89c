// How the engine is: what is in trouble now, whether writes have stopped for good, and whether
// etcd's revision has ever gone back. Every part of the engine reports here; GetHealth reads it.
//
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "store/etcd/etcd.pb.h"
#include "store/types.h"

namespace berth::store::etcd {

class Status {
 public:
  /// What can be in trouble, each on its own.
  enum class Area : uint8_t { kWrites, kUnknown, kReach, kFeed, kCount };

  /// `log` must outlive it.
  explicit Status(base::Logger& log) : log_(log) {}

  /// The sentence stays until Fine. A change for better or worse is logged once.
  void Trouble(Area area, std::string sentence);
  void Fine(Area area);
  bool InTrouble(Area area) const;

  /// Writes stop until the engine is opened anew; the first reason stays. With `reads` they stop
  /// as well.
  void Stop(std::string why, bool reads);
  /// What to answer instead of writing (or of reading), if anything.
  std::optional<base::Error> WriteStop() const;
  std::optional<base::Error> ReadStop() const;

  /// The highest revision a linearizable reply has had. Read it before sending...
  int64_t Seen() const;
  /// ...and check the reply with it: a lower one, or one of another cluster, means that etcd was
  /// put back to an older state. Then everything stops, and it is false.
  bool Check(const etcdserverpb::ResponseHeader& header, int64_t seen_before);

  Health Get() const;

 private:
  static constexpr size_t kAreas = static_cast<size_t>(Area::kCount);

  base::Logger& log_;
  mutable base::Mutex mutex_;
  std::array<std::string, kAreas> trouble_ GUARDED_BY(mutex_);
  std::string stopped_ GUARDED_BY(mutex_);
  bool reads_stopped_ GUARDED_BY(mutex_) = false;
  int64_t seen_ GUARDED_BY(mutex_) = 0;
  uint64_t cluster_ GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::store::etcd
