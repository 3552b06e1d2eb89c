// What the store does by itself, on a thread of its own, about once a second: deletes keys whose
// time has come, gives up history that is too old or too large, and, when nobody writes, the memory
// that only writing needed.
//
// Giving up history is two steps: the horizon is raised, durably, and from then on nobody may read
// below it; then what only the past needed is deleted, in small pieces, each of which travels with
// a commit group.
//
// It writes through the committer alone; when that refuses, it tries again next time.
//
// Threads: every function may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "store/event_ring.h"
#include "store/rocks/committer.h"
#include "store/rocks/database_gate.h"
#include "store/rocks/key_index.h"
#include "store/rocks/reader.h"
#include "store/rocks/samples.h"

namespace berth::store::rocks {

class Housekeeper {
 public:
  /// They must outlive it.
  struct Parts {
    DatabaseGate& gate;
    const KeyIndex& index;
    const Horizon& horizon;
    Committer& committer;
    EventRing& ring;
    base::Logger& log;
    const base::Clock& clock;
  };

  Housekeeper(const Parts& parts, Samples samples, std::chrono::milliseconds every);
  ~Housekeeper() { Stop(); }
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  /// To be called once.
  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  /// There may be something to do already.
  void Poke() EXCLUDES(mutex_);

  /// What it has under way must be able to end: the committer must have stopped, or work.
  void Stop() EXCLUDES(mutex_);

 private:
  struct Piece;
  struct DueKey;

  void Run() EXCLUDES(mutex_);
  bool WaitForTurn() EXCLUDES(mutex_);
  bool IsStopping() const EXCLUDES(mutex_);
  bool DoNow(Fill fill);

  // History.
  void TakeSample(const Sample& now);
  void GiveUp(const Sample& now);
  void Purge();
  base::Result<Piece> FindPiece(Revision upto) const;
  bool Delete(Piece piece);

  // Memory.
  void Rest(Revision now);

  // Expiry.
  void Expire();
  base::Result<std::vector<DueKey>> FindDue(int64_t now) const;
  bool DeleteKeys(const std::vector<DueKey>& due);
  bool DropStale(std::vector<std::string> rows);

  const Parts parts_;
  const std::chrono::milliseconds every_;

  mutable base::Mutex mutex_;
  base::CondVar wake_;
  bool poked_ GUARDED_BY(mutex_) = false;
  bool stop_ GUARDED_BY(mutex_) = false;

  // Of the thread alone.
  Samples samples_;
  Revision purged_;  // What events up to here left to delete is deleted.
  Revision seen_;    // The newest one at the last turn.
  Revision rested_;  // Memory was given up when this was the newest.

  std::thread thread_;  // Last: it uses all the others.
};

}  // namespace berth::store::rocks
