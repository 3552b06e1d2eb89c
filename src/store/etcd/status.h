// The state of the engine: what is in trouble now, whether it has stopped until it is opened again,
// and whether etcd's revision has ever gone back. Every part of the engine reports here; GetHealth
// reads it.
//
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "store/etcd/etcd.pb.h"
#include "store/types.h"

namespace berth::store::etcd {

class Status {
 public:
  /// The areas that can be in trouble, each on its own.
  enum class Area : uint8_t { kWrites, kUnknown, kReach, kFeed, kMarker, kCount };

  /// `log` must outlive the object. `stopped` is called once, when the engine stops. It must be
  /// quick and must not call into the engine.
  explicit Status(base::Logger& log, std::function<void()> stopped = nullptr)
      : log_(log), on_stop_(std::move(stopped)) {}

  /// Sets the sentence, which stays until Fine is called. Each change to trouble or back is logged
  /// once.
  void Trouble(Area area, std::string sentence);
  void Fine(Area area);
  bool InTrouble(Area area) const;

  /// Stops writes until the engine is opened again; the first reason is kept. If `reads` is true,
  /// reads stop as well.
  void Stop(std::string why, bool reads);
  /// Return the error for a write (or a read) if it has been stopped, else nullopt.
  std::optional<base::Error> WriteStop() const;
  std::optional<base::Error> ReadStop() const;

  /// Returns the highest revision that a linearizable reply has had. Callers read it before they
  /// send...
  int64_t Seen() const;
  /// ...and check the reply with it. A lower revision, or a reply from another cluster, means that
  /// etcd was restored to an older state. Then everything stops, and the result is false.
  bool Check(const etcdserverpb::ResponseHeader& header, int64_t seen_before);
  /// Raises Seen to the revision of an event.
  void Saw(int64_t revision);

  Health Get() const;

 private:
  static constexpr size_t kAreas = static_cast<size_t>(Area::kCount);

  base::Logger& log_;
  const std::function<void()> on_stop_;
  mutable base::Mutex mutex_;
  std::array<std::string, kAreas> trouble_ GUARDED_BY(mutex_);
  std::string stopped_ GUARDED_BY(mutex_);
  bool reads_stopped_ GUARDED_BY(mutex_) = false;
  int64_t seen_ GUARDED_BY(mutex_) = 0;
  uint64_t cluster_ GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::store::etcd
