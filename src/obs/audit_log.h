// The audit log: one line of JSON per request.
//
//   {"time":"2026-11-15T04:35:00.123Z","id":"6f1e…","user":"kubernetes-admin",
//    "groups":["system:masters"],"source":"127.0.0.1:53212","verb":"create",
//    "method":"POST","uri":"/api/v1/namespaces/shop/services","code":201,"ms":1.9}
//
// A thread of its own writes the file, so that a request never waits for it. The queue of
// lines is bounded: when it is full, lines are dropped, and the next line says how many. A
// file that reaches `max_bytes` is renamed to <path>.1, the older files move up by one, and
// at most `backups` are kept.
//
// Threads: any. Errors: if the file cannot be written, the lines are lost but the request does not
// fail. The server's log says so once, until writing works again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"

namespace berth::obs {

struct AuditOptions {
  std::string path;  // "-" means standard output, which is not rotated.
  uint64_t max_bytes = uint64_t{100} << 20;
  size_t backups = 5;
  size_t max_waiting_bytes = size_t{8} << 20;
};

struct AuditRecord {
  base::WallTime time;
  std::string_view id;
  std::string_view user;
  const std::vector<std::string>* groups = nullptr;
  std::string_view source;
  std::string_view verb;
  std::string_view method;
  std::string_view uri;
  int code = 0;
  std::chrono::nanoseconds took{0};
};

class AuditLog {
 public:
  /// Returns an error if the file cannot be opened.
  static base::Result<std::unique_ptr<AuditLog>> Open(AuditOptions options, base::Logger& log);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void Write(const AuditRecord& record) EXCLUDES(mutex_);
  /// Waits until everything that was written before is in the file.
  void Flush() EXCLUDES(mutex_);
  uint64_t Dropped() const EXCLUDES(mutex_);

 private:
  AuditLog(AuditOptions options, base::Logger& log, std::FILE* file, uint64_t size);

  void Run() EXCLUDES(mutex_);
  void WriteOut(std::string_view lines);
  void Rotate();

  const AuditOptions options_;
  base::Logger& log_;

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::string waiting_ GUARDED_BY(mutex_);
  uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  uint64_t dropped_since_ GUARDED_BY(mutex_) = 0;  // Not reported yet.
  bool writing_ GUARDED_BY(mutex_) = false;
  bool hurry_ GUARDED_BY(mutex_) = false;  // A caller of Flush is waiting.
  bool stop_ GUARDED_BY(mutex_) = false;

  // Used by the thread only.
  std::FILE* file_;
  uint64_t size_;
  bool failing_ = false;

  std::thread thread_;
};

}  // namespace berth::obs
