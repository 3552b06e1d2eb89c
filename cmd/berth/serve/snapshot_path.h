// GET /berth/v1/snapshot: the whole state at one revision as a snapshot file
// (store/snapshot_file.h), while the server keeps running. Only one snapshot is sent at a time. It
// is read from the store as fast as the client receives it, with at most kMaxWaitingBytes and a
// block in memory.
//
// An answer that breaks off has no end marker, so a reader of the snapshot detects it.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "http/source.h"
#include "server/call.h"
#include "store/engine.h"

namespace berth::cli {

inline constexpr const char* kSnapshotPath = "/berth/v1/snapshot";

class SnapshotPath {
 public:
  static constexpr size_t kMaxWaitingBytes = size_t{4} << 20;

  SnapshotPath(store::Engine& engine, std::string source, const base::Clock& clock,
               base::Logger& log);
  /// Every answer must have ended.
  ~SnapshotPath();
  SnapshotPath(const SnapshotPath&) = delete;
  SnapshotPath& operator=(const SnapshotPath&) = delete;

  void Serve(const server::CallPtr& call) EXCLUDES(mutex_);

 private:
  class Pipe;
  class PipeSource;

  void Save(Pipe& pipe);

  store::Engine& engine_;
  const std::string source_;
  const base::Clock& clock_;
  base::Logger& log_;
  http::Signal signal_;

  base::Mutex mutex_;
  std::shared_ptr<Pipe> running_ GUARDED_BY(mutex_);  // The newest pipe. It may have ended.
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace berth::cli
