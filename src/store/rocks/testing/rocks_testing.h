// Code that the tests of the embedded engine share: a directory, a clock, a log that can be read,
// and a file system that fails on request. For tests only.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/temp_dir.h"
#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"
#include "store/rocks/seams.h"

namespace berth::store::rocks {

using base::TempDir;

/// A clock that moves only by Advance, which may be called while other threads read the clock.
class TestClock final : public base::Clock {
 public:
  base::WallTime Now() const override { return base::WallTime(passed_.load()); }
  base::SteadyTime Steady() const override { return base::SteadyTime(passed_.load()); }
  void Advance(std::chrono::nanoseconds by) { passed_ = passed_.load() + by; }

 private:
  std::atomic<std::chrono::nanoseconds> passed_{std::chrono::hours(24 * 365 * 50)};
};

/// Collects all log lines.
class LogLines {
 public:
  base::LogSink Sink() {
    return [this](std::string_view line) {
      base::MutexLock lock(mutex_);
      text_ += line;
    };
  }
  std::string Text() const {
    base::MutexLock lock(mutex_);
    return text_;
  }

 private:
  mutable base::Mutex mutex_;
  std::string text_ GUARDED_BY(mutex_);
};

inline std::string Numbered(int number) { return std::string("/").append(std::to_string(number)); }

/// Polls until `holds` returns true. Returns false after a minute, which only a broken store needs.
inline bool Eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// The faults of the file system.
struct Faults {
  std::atomic<int> log_syncs = 0;           // This many of the next syncs of logs fail.
  std::atomic<bool> lose_unsynced = false;  // A failed sync also loses the unsynced bytes.
  std::atomic<bool> no_new_files = false;
  std::atomic<bool> no_space = false;
  std::atomic<bool> tables_fail = false;
  std::atomic<int> tables_synced = 0;
};

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using Options = rocksdb::IOOptions;
  using Debug = rocksdb::IODebugContext;
  using rocksdb::FSWritableFileOwnerWrapper::Append;

  FaultyFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string path, Faults& faults)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), faults_(faults) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const Options& options,
                           Debug* debug) override {
    if (faults_.no_space) {
      // As on a full disk, a part of the data still fits.
      static_cast<void>(FSWritableFileOwnerWrapper::Append(
          rocksdb::Slice(data.data(), data.size() / 2), options, debug));
      return rocksdb::IOStatus::NoSpace("told to be full", path_);
    }
    if (IsTable() && faults_.tables_fail) return rocksdb::IOStatus::IOError("told to fail", path_);
    written_ += data.size();
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }

  rocksdb::IOStatus Sync(const Options& options, Debug* debug) override {
    if (!IsTable() && path_.ends_with(".log") && faults_.log_syncs > 0) {
      --faults_.log_syncs;
      if (faults_.lose_unsynced) {
        EXPECT_EQ(truncate(path_.c_str(), static_cast<off_t>(synced_)), 0);
      }
      return rocksdb::IOStatus::IOError("told to fail to sync", path_);
    }
    const rocksdb::IOStatus status = FSWritableFileOwnerWrapper::Sync(options, debug);
    if (status.ok()) synced_ = written_;
    if (status.ok() && IsTable()) ++faults_.tables_synced;
    return status;
  }

 private:
  bool IsTable() const { return path_.ends_with(".sst"); }

  const std::string path_;
  Faults& faults_;
  uint64_t written_ = 0;
  uint64_t synced_ = 0;
};

class FaultyFiles final : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFiles(Faults& faults)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), faults_(faults) {}

  const char* Name() const override { return "FaultyFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    if (faults_.no_new_files) return rocksdb::IOStatus::IOError("told to make no file", path);
    const rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (status.ok()) *file = std::make_unique<FaultyFile>(std::move(*file), path, faults_);
    return status;
  }

 private:
  Faults& faults_;
};

class RocksTest : public testing::Test {
 protected:
  RocksTest() {
    options_.directory = dir_.Path() + "/store";
    seams_.housekeeping = std::chrono::milliseconds(10);
    seams_.retry = std::chrono::milliseconds(20);
  }

  /// Makes the next engine use files that fail as `faults_` says.
  void UseFaults() { seams_.env = faulty_env_.get(); }

  RocksEngine& Open() {
    engine_.reset();
    auto engine = OpenWith(options_, seams_, log_, clock_);
    if (!engine) {
      ADD_FAILURE() << engine.error().message;
      std::abort();  // No test could go on.
    }
    engine_ = std::move(*engine);
    return *engine_;
  }

  /// Returns the error of opening the store, which must fail.
  base::Error OpenError() {
    engine_.reset();
    auto engine = OpenWith(options_, seams_, log_, clock_);
    EXPECT_FALSE(engine.has_value());
    return engine ? base::Error{} : engine.error();
  }

  RocksEngine& engine() { return engine_ == nullptr ? Open() : *engine_; }
  void Close() { engine_.reset(); }

  TxnReply Write(std::string key, std::string value = "v", std::chrono::seconds ttl = {}) {
    return CommitNow(engine(),
                     {.puts = {{.key = std::move(key), .value = std::move(value), .ttl = ttl}}});
  }
  int64_t Put(std::string key, std::string value = "v", std::chrono::seconds ttl = {}) {
    const TxnReply reply = Write(std::move(key), std::move(value), ttl);
    EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
    return reply.puts.empty() ? 0 : reply.puts[0].value;
  }

  /// Returns the value of the key, "-" if it does not exist, or the message if it cannot be read.
  std::string Get(std::string key) {
    const auto entry = GetNow(engine(), std::move(key));
    if (!entry) return entry.error().message;
    return *entry ? (**entry).value : "-";
  }

  /// Returns all keys as "key=value key=value".
  std::string State(int64_t at = 0) {
    const auto page = ScanAll(engine(), "", {at});
    if (!page) return page.error().message;
    std::string text;
    for (const Entry& entry : page->entries) {
      text += (text.empty() ? "" : " ") + entry.key + "=" + entry.value;
    }
    return text;
  }

  /// Returns every event after `after` as "key@revision", or "-key@revision" for a delete.
  std::string Events(int64_t after) {
    WatchReader reader(engine(), {.prefix = "", .after = {after}});
    const auto events = reader.UntilProgress(
        *CurrentNow(engine()), std::chrono::steady_clock::now() + std::chrono::seconds(60));
    if (!events) return events.error().message;
    std::string text;
    for (const EventPtr& event : *events) {
      text += std::string(text.empty() ? "" : " ") +
              (event->type == Event::Type::kDelete ? "-" : "") + event->key + "@" +
              std::to_string(event->revision.value);
    }
    return text;
  }

  bool IsExpired(int64_t at) {
    const auto page = ScanAll(engine(), "", {at});
    return !page && page.error().reason == base::Reason::kExpired;
  }

  const TempDir dir_;
  TestClock clock_;
  LogLines lines_;
  base::Logger log_{{.sink = lines_.Sink()}, clock_};
  Faults faults_;
  const std::unique_ptr<rocksdb::Env> faulty_env_ =
      rocksdb::NewCompositeEnv(std::make_shared<FaultyFiles>(faults_));
  RocksOptions options_;
  Seams seams_;

 private:
  std::unique_ptr<RocksEngine> engine_;
};

}  // namespace berth::store::rocks
