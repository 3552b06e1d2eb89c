#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <latch>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace berth::base {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// 2026-11-15T04:35:00.123Z.
constexpr WallTime kNow = std::chrono::sys_days{std::chrono::year{2026} / 11 / 15} +
                          std::chrono::hours{4} + std::chrono::minutes{35} + milliseconds{123};

class LogTest : public ::testing::Test {
 protected:
  LogOptions Options(LogFormat format) {
    return {.format = format, .sink = [this](std::string_view line) { lines_.emplace_back(line); }};
  }

  // Returns the line of one event. The logger is destroyed first, so that the
  // line has been written.
  template <typename Event>
  std::string LineOf(LogFormat format, Event event) {
    lines_.clear();
    {
      Logger log(Options(format), clock_);
      event(log);
    }
    return lines_.size() == 1 ? lines_[0] : "not one line";
  }

  std::string Text(std::string_view message, LogFields fields = {}) {
    return LineOf(LogFormat::kText, [&](Logger& log) { log.Info(message, fields); });
  }

  std::string Json(std::string_view message, LogFields fields = {}) {
    return LineOf(LogFormat::kJson, [&](Logger& log) { log.Info(message, fields); });
  }

  const ManualClock clock_{kNow};
  std::vector<std::string> lines_;
};

TEST_F(LogTest, TextForm) {
  const std::string address = "127.0.0.1";
  EXPECT_EQ(Text("listening", {{"address", address}, {"port", 6443}}),
            "2026-11-15T04:35:00.123Z INFO  listening address=127.0.0.1 port=6443\n");
  EXPECT_EQ(Text("two words"), "2026-11-15T04:35:00.123Z INFO  two words\n");
}

TEST_F(LogTest, JsonForm) {
  EXPECT_EQ(Json("listening", {{"address", "127.0.0.1"}, {"port", 6443}}),
            R"({"time":"2026-11-15T04:35:00.123Z","level":"info","msg":"listening",)"
            R"("address":"127.0.0.1","port":6443})"
            "\n");
}

TEST_F(LogTest, EveryLevelHasItsName) {
  LogOptions options = Options(LogFormat::kText);
  options.minimum = LogLevel::kDebug;
  {
    Logger log(options, clock_);
    log.Debug("d");
    log.Info("i");
    log.Warn("w");
    log.Error("e");
  }
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" DEBUG d\n"), HasSubstr(" INFO  i\n"),
                                  HasSubstr(" WARN  w\n"), HasSubstr(" ERROR e\n")));
}

TEST_F(LogTest, EveryTypeOfField) {
  const uint64_t large = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(Text("m", {{"yes", true},
                         {"no", false},
                         {"negative", int8_t{-5}},
                         {"large", large},
                         {"half", 0.5},
                         {"view", std::string_view("v")}}),
              HasSubstr(" yes=true no=false negative=-5 large=18446744073709551615 half=0.5 "
                        "view=v\n"));
  EXPECT_THAT(Json("m", {{"yes", true}, {"large", large}, {"half", 0.5F}, {"view", "true"}}),
              HasSubstr(R"("yes":true,"large":18446744073709551615,"half":0.5,"view":"true"})"));
}

TEST_F(LogTest, NonFiniteNumbersAreStringsInJson) {
  EXPECT_THAT(Json("m", {{"a", std::nan("")}, {"b", -HUGE_VAL}}),
              HasSubstr(R"("a":"NaN","b":"-Inf"})"));
  EXPECT_THAT(Text("m", {{"a", HUGE_VAL}}), HasSubstr(" a=+Inf\n"));
}

TEST_F(LogTest, OneEventIsOneLineWhateverItHolds) {
  EXPECT_THAT(Text("a\nb", {{"k\n", "v\r\nw"}, {"", ""}, {"a b", "c=d"}, {"q", "\"\\"}}),
              HasSubstr(R"( INFO  "a\nb" "k\n"="v\r\nw" ""="" "a b"="c=d" q="\"\\")"
                        "\n"));
  EXPECT_THAT(Text("m", {{"bad", "\xFF"}, {"separator", "\u2028"}, {"word", "é"}}),
              HasSubstr(R"( bad="�" separator="\u2028" word="é")"
                        "\n"));
  EXPECT_THAT(Text(""), HasSubstr(" INFO  \"\"\n"));
  EXPECT_THAT(Text("x=1"), HasSubstr(" INFO  \"x=1\"\n"));
  EXPECT_THAT(Json("a\nb", {{"k\n", "v\r\nw"}}), HasSubstr(R"("a\nb","k\n":"v\r\nw"})"));
}

TEST_F(LogTest, JsonKeysNeverRepeat) {
  EXPECT_THAT(Json("m", {{"msg", 1}, {"level", 2}, {"time", 3}, {"field_msg", 4}, {"field_x", 5}}),
              HasSubstr(R"("msg":"m","field_msg":1,"field_level":2,"field_time":3,)"
                        R"("field_field_msg":4,"field_x":5})"));
  EXPECT_THAT(Json("m", {{"a", 1}, {"b", 2}, {"a", 3}}), HasSubstr(R"("msg":"m","b":2,"a":3})"));
}

class CountingClock final : public Clock {
 public:
  WallTime Now() const override {
    ++calls_;
    return kNow;
  }
  SteadyTime Steady() const override { return {}; }
  int Calls() const { return calls_; }

 private:
  mutable std::atomic<int> calls_ = 0;
};

TEST_F(LogTest, ALevelThatIsOffCostsNothing) {
  const CountingClock clock;
  {
    LogOptions options = Options(LogFormat::kText);
    options.minimum = LogLevel::kError;
    Logger log(options, clock);
    EXPECT_FALSE(log.Enabled(LogLevel::kWarn));
    EXPECT_TRUE(log.Enabled(LogLevel::kError));
    log.Debug("no");
    log.Info("no");
    log.Warn("no", {{"k", 1}});
  }
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(clock.Calls(), 0);
}

TEST_F(LogTest, WritesToStandardErrorByDefault) {
  ::testing::internal::CaptureStderr();
  {
    Logger(LogOptions{}, clock_).Info("hello", {{"n", 1}});
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "2026-11-15T04:35:00.123Z INFO  hello n=1\n");
}

// Blocks every caller of Pass until the gate is opened. AwaitArrival waits for the first caller.
class Gate {
 public:
  void Pass() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void AwaitArrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  bool open_ = false;
};

TEST_F(LogTest, AFullQueueDropsTheOldestAndSaysHowMany) {
  Gate gate;
  {
    LogOptions options = Options(LogFormat::kText);
    options.queue_lines = 3;
    options.sink = [&](std::string_view line) {
      gate.Pass();
      lines_.emplace_back(line);
    };
    Logger log(options, clock_);
    log.Info("line 0");
    gate.AwaitArrival();  // The sink now holds line 0 and the queue is empty.
    for (int i = 1; i <= 100; ++i) log.Info("line " + std::to_string(i));
    gate.Open();
  }
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" line 0\n"),
                                  "2026-11-15T04:35:00.123Z WARN  log lines dropped count=97\n",
                                  HasSubstr(" line 98\n"), HasSubstr(" line 99\n"),
                                  HasSubstr(" line 100\n")));
}

TEST_F(LogTest, DropsAreReportedAfreshEachTime) {
  Gate first;
  Gate second;
  std::latch first_is_over(1);
  {
    LogOptions options = Options(LogFormat::kJson);
    options.queue_lines = 1;
    options.minimum = LogLevel::kError;  // The report does not depend on it.
    options.sink = [&, gate = &first](std::string_view line) mutable {
      lines_.emplace_back(line);
      gate->Pass();
      if (line.find("last of first") != std::string_view::npos) {
        gate = &second;
        first_is_over.count_down();
      }
    };
    Logger log(options, clock_);
    log.Error("held");
    first.AwaitArrival();
    log.Error("lost");
    log.Error("last of first");
    first.Open();
    first_is_over.wait();
    log.Error("held");
    second.AwaitArrival();
    log.Error("lost");
    log.Error("lost");
    log.Error("last");
    second.Open();
  }
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("\"held\""), HasSubstr("\"count\":1}"),
                                  HasSubstr("\"last of first\""), HasSubstr("\"held\""),
                                  HasSubstr("\"count\":2}"), HasSubstr("\"last\"")));
}

TEST_F(LogTest, AQueueOfNoLinesHasOne) {
  {
    LogOptions options = Options(LogFormat::kText);
    options.queue_lines = 0;
    Logger log(options, clock_);
    log.Info("a");
  }
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(LogTest, ManyThreadsLoseNothingThatIsNotCounted) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  {
    LogOptions options = Options(LogFormat::kText);
    options.queue_lines = 64;
    Logger log(options, clock_);
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < kEach; ++i) log.Info("event", {{"thread", t}, {"i", i}});
      });
    }
  }
  int written = 0;
  int dropped = 0;
  for (const std::string& line : lines_) {
    ASSERT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    const size_t count = line.find("count=");
    if (count == std::string::npos) {
      ++written;
    } else {
      dropped += std::stoi(line.substr(count + 6));
    }
  }
  EXPECT_EQ(written + dropped, kThreads * kEach);
}

}  // namespace
}  // namespace berth::base
