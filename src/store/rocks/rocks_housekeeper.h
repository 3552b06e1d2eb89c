// The background work of the store, on a thread of its own, about once a second. It deletes expired
// keys and gives up history that is too old or too large. When there are no writes, it releases
// memory that only writing needs.
//
// History is given up in two steps. First the horizon is raised durably; from then on readers
// refuse revisions below it. Then the rows that only the past needed are deleted in small pieces,
// each of which is written with a commit group.
//
// The housekeeper writes only through the committer. If that refuses, it tries again at its next
// turn.
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
#include "store/rocks/database_gate.h"
#include "store/rocks/key_index.h"
#include "store/rocks/rocks_committer.h"
#include "store/rocks/rocks_reader.h"
#include "store/rocks/samples.h"

namespace berth::store::rocks {

class Housekeeper {
 public:
  /// The parts of the engine that the housekeeper uses. They must outlive it.
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

  /// Starts the thread. To be called once.
  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  /// Makes the next turn begin at once.
  void Poke() EXCLUDES(mutex_);

  /// Takes a sample of history now, and pokes. The committer calls it when history has grown, so
  /// that the end of history is exact even if the housekeeper's thread runs late.
  void NoteHistory() EXCLUDES(mutex_);

  /// Stops the thread. The committer must work or have stopped, so that a write under way can end.
  void Stop() EXCLUDES(mutex_);

 private:
  struct Piece;
  struct DueKey;

  void Run() EXCLUDES(mutex_);
  bool WaitForTurn() EXCLUDES(mutex_);
  bool IsStopping() const EXCLUDES(mutex_);
  bool DoNow(Fill fill);

  // History.
  Sample Now() const;
  void TakeSamples(const Sample& now) EXCLUDES(mutex_);
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
  std::vector<Sample> noted_ GUARDED_BY(mutex_);  // Not yet in samples_.

  // Used by the thread only.
  Samples samples_;
  Revision purged_;  // The rows that events up to here made useless are deleted.
  Revision seen_;    // The newest revision at the last turn.
  Revision rested_;  // The newest revision when memory was released last.

  std::thread thread_;  // Declared last, because the thread uses all other members.
};

}  // namespace berth::store::rocks
