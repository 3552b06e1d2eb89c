// Compares a history with a model: a cluster that changes at random, an observer that sees it,
// loses it, is restarted, killed and damaged, and questions about random values at random times.
// What the history calls certain must be true, and what is true must be in its answer unless it
// says that it does not know.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/temp_dir.h"
#include "base/testing/base_kit.h"
#include "codec/timestamp.h"
#include "history/history.h"
#include "history/history_reader.h"

namespace berth::history {
namespace {

using alloc::PoolId;
using alloc::PoolValue;

class HistoryModel {
 public:
  explicit HistoryModel(uint64_t seed) : random_(seed) {
    clock_.Advance(codec::ParseTime("2026-01-02T03:00:00Z")->time_since_epoch());
    start_ = clock_.Now();
    options_.directory = dir_.Path() + "/history";
    options_.segment_bytes = 512;
    Open();
  }

  void Run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      clock_.Advance(std::chrono::milliseconds(1 + Below(5000)));
      Step();
      if (step % 20 == 19) Ask(10);
    }
    Ask(200);
  }

 private:
  static constexpr size_t kServices = 12;
  static constexpr size_t kValues = 10;

  uint64_t Below(uint64_t end) { return base::Uniform(random_, end); }

  void Open() {
    auto opened = History::Open(options_, clock_, log_);
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = *std::move(opened);
    following_ = false;
  }

  static PoolValue ValueOf(size_t i) {
    if (i % 3 == 0) return {.pool = PoolId::kPorts, .value = 30000 + i};
    if (i % 3 == 1) return {.pool = PoolId::kIpv4, .value = 0x0a600000 + i};
    return {.pool = PoolId::kIpv6, .value = base::MakeU128(0xfd00, i)};
  }

  void Step() {
    const uint64_t dice = Below(100);
    if (dice < 60) {
      Change();
    } else if (dice < 75) {
      if (following_) history_->Seen(0);
      history_->Tick();
    } else if (dice < 85) {
      List();
    } else if (dice < 90) {
      history_->Lost();
      following_ = false;
    } else if (dice < 95) {
      history_.reset();
      Open();
    } else if (dice < 99) {
      Kill();
    } else {
      Damage();
    }
  }

  /// Changes the cluster, and tells the observer if it follows.
  void Change() {
    const std::string name = fmt::format("s{}", Below(kServices));
    ServiceState& service = cluster_[name];
    std::set<size_t> values;
    for (uint64_t n = Below(4); n > 0; --n) values.insert(Below(kValues));
    const bool again = service.owner.name.empty() || Below(5) == 0;
    if (again) {
      SetTruth(service, {});
      service.owner = {.name_space = "shop", .name = name, .uid = fmt::format("u{}", ++uids_)};
      service.created = clock_.Now();
    }
    SetTruth(service, values);
    if (!following_) return;
    if (values.empty()) {
      history_->Remove("shop", name, 0);
    } else {
      history_->Put(service);
    }
  }

  void SetTruth(ServiceState& service, const std::set<size_t>& values) {
    service.holds.clear();
    for (size_t i = 0; i < kValues; ++i) {
      auto& past = truth_[i][service.owner.uid];
      const bool held = !past.empty() && past.back().second;
      const bool wanted = values.contains(i);
      if (wanted) service.holds.push_back({.value = ValueOf(i)});
      if (held != wanted) past.emplace_back(clock_.Now(), wanted);
    }
  }

  void List() {
    history_->BeginList();
    for (const auto& [name, service] : cluster_) {
      if (!service.holds.empty()) history_->Put(service);
    }
    history_->EndList(0);
    following_ = true;
  }

  /// Ends the observer without a word, and cuts off up to the bytes that were never synced.
  void Kill() {
    const std::string copy = dir_.Path() + "/copy";
    std::filesystem::copy(options_.directory, copy, std::filesystem::copy_options::recursive);
    history_.reset();
    std::filesystem::remove_all(options_.directory);
    std::filesystem::rename(copy, options_.directory);
    const SegmentFile last = ListSegments(options_.directory)->back();
    const uint64_t cut = std::min<uint64_t>(Below(60), last.bytes);
    std::filesystem::resize_file(last.path, last.bytes - cut);
    Open();
  }

  /// Flips a bit of a segment that is complete.
  void Damage() {
    const auto files = ListSegments(options_.directory).value();
    if (files.size() < 2) return;
    const SegmentFile& file = files[Below(files.size() - 1)];
    std::fstream bytes(file.path, std::ios::binary | std::ios::in | std::ios::out);
    const auto at = static_cast<std::streamoff>(Below(file.bytes));
    bytes.seekg(at);
    const int byte = bytes.get();
    bytes.seekp(at);
    bytes.put(static_cast<char>(byte ^ (1 << Below(8))));
  }

  std::set<std::string> TruthAt(size_t value, base::WallTime time) const {
    std::set<std::string> uids;
    const auto all = truth_.find(value);
    if (all == truth_.end()) return uids;
    for (const auto& [uid, past] : all->second) {
      bool held = false;
      for (const auto& [when, is_held] : past) held = when <= time ? is_held : held;
      if (held) uids.insert(uid);
    }
    return uids;
  }

  void Ask(int questions) {
    ASSERT_TRUE(history_->Flush());
    const auto reader = HistoryReader::Open(options_.directory);
    ASSERT_TRUE(reader);
    const uint64_t length =
        static_cast<uint64_t>((clock_.Now() - start_) / std::chrono::milliseconds(1));
    for (int i = 0; i < questions; ++i) {
      const size_t value = Below(kValues);
      const base::WallTime time = start_ + std::chrono::milliseconds(Below(length + 1));
      Compare(value, time, *reader);
    }
  }

  void Compare(size_t value, base::WallTime time, const HistoryReader& reader) {
    const auto held = reader.WhoHeld(ValueOf(value), time);
    ASSERT_TRUE(held) << held.error().message;
    const std::set<std::string> truth = TruthAt(value, time);
    std::set<std::string> answered;
    for (const Holding& holding : held->holdings) {
      const std::string& uid = holding.span.owner.uid;
      answered.insert(uid);
      if (holding.certainty != Certainty::kCertain) continue;
      EXPECT_TRUE(truth.contains(uid)) << Describe(value, time) << uid << " is certain, not true";
    }
    if (!held->complete) return;
    ++complete_;
    for (const std::string& uid : truth) {
      EXPECT_TRUE(answered.contains(uid)) << Describe(value, time) << uid << " is missing";
    }
  }

  static std::string Describe(size_t value, base::WallTime time) {
    return fmt::format("{} at {}: ", alloc::TextOf(ValueOf(value)),
                       base::FormatRfc3339Millis(time));
  }

 public:
  /// Returns how many answers were complete. A history that never knows anything proves nothing.
  uint64_t complete() const { return complete_; }

 private:
  const base::TempDir dir_{base::TempDir::Medium::kMemory};
  base::SeededRandom random_;
  base::ManualClock clock_;
  base::WallTime start_;
  base::Logger log_{{.minimum = base::LogLevel::kError, .sink = [](std::string_view) {}}, clock_};
  HistoryOptions options_;
  std::unique_ptr<History> history_;
  bool following_ = false;
  int uids_ = 0;
  uint64_t complete_ = 0;
  std::map<std::string, ServiceState> cluster_;
  /// For each value and uid: when the Service took it (true) and released it (false).
  std::map<size_t, std::map<std::string, std::vector<std::pair<base::WallTime, bool>>>> truth_;
};

TEST(HistoryModelTest, WhatIsCertainIsTrue) {
  uint64_t complete = 0;
  const uint64_t first = base::TestSeed(1);
  const auto runs = static_cast<uint64_t>(base::LongCount(150));
  for (uint64_t seed = first; seed < first + runs && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    HistoryModel model(seed);
    model.Run(400);
    complete += model.complete();
  }
  EXPECT_GT(complete, runs * 50);
}

}  // namespace
}  // namespace berth::history
