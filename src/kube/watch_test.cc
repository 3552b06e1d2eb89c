#include "kube/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/kinds.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "codec/read.h"
#include "kube/testing/scripted_server.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string WatchLine(std::string_view type, std::string_view name, int revision) {
  return fmt::format(
      R"({{"type":"{}","object":{{"metadata":{{"name":"{}","resourceVersion":"{}"}}}}}})"
      "\n",
      type, name, revision);
}

std::string WatchError(int code, std::string_view reason) {
  return fmt::format(R"({{"type":"ERROR","object":{}}})"
                     "\n",
                     StatusBody(code, reason, "it went wrong"));
}

Script ListOf(std::string_view name, int revision) {
  return Reply(200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[)"
                                R"({{"metadata":{{"name":"{}","resourceVersion":"1"}}}}]}})",
                                revision, name));
}

bool IsWatch(const std::string& head) { return head.find("watch=true") != std::string::npos; }

/// A Watch of Services, what it reported as short texts, and how long it rested.
class WatchRun {
 public:
  explicit WatchRun(ScriptedServer::Answerer answerer, WatchOptions options = {})
      : server(std::move(answerer)),
        watch(std::make_unique<Watch>(
            server.MakeAccess(), TargetOf(api::kServiceKind),
            WatchContext{
                .clock = clock_, .seed = 1, .sleep = [this](nanoseconds t) { return Rest(t); }},
            [this](const WatchEvent& event) { Note(event); }, options)) {}
  ~WatchRun() { watch.reset(); }

  /// Waits until a text was reported. Returns everything up to it.
  std::vector<std::string> Until(std::string_view text) {
    base::MutexLock lock(mutex_);
    while (seen_.empty() || seen_.back() != text) {
      const auto found = std::ranges::find(seen_, text);
      if (found != seen_.end()) return {seen_.begin(), found + 1};
      if (!changed_.WaitFor(mutex_, seconds(20))) break;
    }
    return seen_;
  }
  std::vector<nanoseconds> Rests() {
    base::MutexLock lock(mutex_);
    return rests_;
  }

 private:
  bool Rest(nanoseconds time) {
    base::MutexLock lock(mutex_);
    rests_.push_back(time);
    return true;
  }
  void Note(const WatchEvent& event) {
    static constexpr std::array<std::string_view, 7> kNames = {
        "begin", "listed", "end", "added", "modified", "deleted", "bookmark"};
    std::string text(kNames.at(static_cast<size_t>(event.type)));
    if (const auto name = codec::StringAt(event.object, "metadata", "name"); !name.empty()) {
      text += fmt::format(" {}", name);
    }
    if (!event.revision.empty()) text += fmt::format(" {}", event.revision);
    base::MutexLock lock(mutex_);
    seen_.push_back(text);
    changed_.NotifyAll();
  }

  base::SystemClock clock_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::string> seen_ GUARDED_BY(mutex_);
  std::vector<nanoseconds> rests_ GUARDED_BY(mutex_);

 public:
  ScriptedServer server;
  std::unique_ptr<Watch> watch;
};

TEST(Watch, ListsAndThenReportsChanges) {
  WatchRun run([](const std::string& head, size_t) {
    if (!IsWatch(head)) return ListOf("a", 7);
    return Stream({WatchLine("ADDED", "b", 8), WatchLine("MODIFIED", "a", 9),
                   WatchLine("DELETED", "b", 10), WatchLine("BOOKMARK", "", 20)},
                  Then::kHang);
  });
  EXPECT_THAT(run.Until("bookmark 20"), ElementsAre("begin", "listed a", "end 7", "added b 8",
                                                    "modified a 9", "deleted b 10", "bookmark 20"));
  EXPECT_THAT(run.server.Heads()[1],
              AllOf(HasSubstr("GET /api/v1/services?watch=true&allowWatchBookmarks=true"),
                    HasSubstr("&resourceVersion=7&"), HasSubstr("timeoutSeconds=")));
  run.watch->Stop();
  const WatchState state = run.watch->State();
  EXPECT_TRUE(state.complete);
  EXPECT_EQ(state.lists, 1U);
  EXPECT_EQ(state.events, 3U);
  EXPECT_EQ(state.watches, 1U);
  EXPECT_TRUE(state.last_heard.has_value());
}

TEST(Watch, GoesOnWhereACutConnectionEnded) {
  WatchRun run([](const std::string& head, size_t index) {
    if (!IsWatch(head)) return ListOf("a", 7);
    if (index == 1) {
      return Stream({WatchLine("ADDED", "b", 8), WatchLine("ADDED", "c", 9).substr(0, 30)},
                    Then::kCut);
    }
    return Stream({WatchLine("ADDED", "c", 9)}, Then::kHang);
  });
  EXPECT_THAT(run.Until("added c 9"),
              ElementsAre("begin", "listed a", "end 7", "added b 8", "added c 9"));
  EXPECT_THAT(run.server.Heads()[2], HasSubstr("resourceVersion=8&"));
  EXPECT_THAT(run.watch->State().last_error, HasSubstr("closed the connection"));
}

TEST(Watch, AsksAgainAtOnceAfterACleanEnd) {
  WatchRun run([](const std::string& head, size_t index) {
    if (!IsWatch(head)) return ListOf("a", 7);
    if (index < 4) return Stream({WatchLine("BOOKMARK", "", static_cast<int>(index) + 10)});
    return Stream({WatchLine("ADDED", "z", 50)}, Then::kHang);
  });
  run.Until("added z 50");
  EXPECT_THAT(run.Rests(), ElementsAre());
  EXPECT_THAT(run.server.Heads()[4], HasSubstr("resourceVersion=13&"));
}

TEST(Watch, ListsAgainWhenTheRevisionIsGone) {
  for (const bool as_event : {true, false}) {
    WatchRun run([as_event](const std::string& head, size_t index) {
      if (index == 1) {
        return as_event ? Stream({WatchError(410, "Expired")})
                        : Reply(410, StatusBody(410, "Expired", "too old"));
      }
      if (!IsWatch(head)) return ListOf(index == 0 ? "a" : "b", index == 0 ? 7 : 70);
      return Stream({WatchLine("ADDED", "c", 71)}, Then::kHang);
    });
    EXPECT_THAT(run.Until("added c 71"), ElementsAre("begin", "listed a", "end 7", "begin",
                                                     "listed b", "end 70", "added c 71"));
  }
}

TEST(Watch, KeepsItsRevisionThroughOtherErrors) {
  WatchRun run([](const std::string& head, size_t index) {
    if (!IsWatch(head)) return ListOf("a", 7);
    if (index == 1) return Stream({WatchError(500, "InternalError")});
    if (index == 2) return Stream({"rubbish\n"});
    return Stream({WatchLine("ADDED", "c", 8)}, Then::kHang);
  });
  EXPECT_THAT(run.Until("added c 8"), ElementsAre("begin", "listed a", "end 7", "added c 8"));
  EXPECT_THAT(run.watch->State().last_error,
              AllOf(HasSubstr("(a test) broke"), HasSubstr("not an event")));
  EXPECT_EQ(run.watch->State().failures, 2U);
}

TEST(Watch, ListsAgainAfterRubbishThatDoesNotEnd) {
  WatchRun run([](const std::string& head, size_t index) {
    if (!IsWatch(head)) return ListOf("a", index == 0 ? 7 : 70);
    if (head.find("resourceVersion=7&") != std::string::npos) return Stream({"rubbish\n"});
    return Stream({WatchLine("ADDED", "c", 71)}, Then::kHang);
  });
  run.Until("added c 71");
  EXPECT_EQ(run.watch->State().lists, 2U);
}

TEST(Watch, RestsLongerWithEachFailure) {
  WatchRun run(
      [](const std::string& head, size_t index) {
        if (index < 8) return Reply(403, StatusBody(403, "Forbidden", "no"));
        if (!IsWatch(head)) return ListOf("a", 7);
        return Stream({}, Then::kHang);
      },
      {.first_pause = seconds(1), .longest_pause = seconds(30)});
  run.Until("end 7");
  const auto rests = run.Rests();
  ASSERT_EQ(rests.size(), 8U);
  for (size_t i = 0; i < rests.size(); ++i) {
    const auto most = std::min(seconds(1 << i), seconds(30));
    EXPECT_LE(rests[i], most) << i;
    EXPECT_GE(rests[i], most / 2) << i;
  }
}

TEST(Watch, WaitsAsLongAsTheServerAsks) {
  WatchRun run(
      [](const std::string& head, size_t index) {
        if (index == 0) return Reply(429, "busy", "Retry-After: 100\r\n");
        if (!IsWatch(head)) return ListOf("a", 7);
        return Stream({}, Then::kHang);
      },
      {.patience = {.busy_answers = 1}});
  run.Until("end 7");
  EXPECT_THAT(run.Rests(), ElementsAre(seconds(100)));
}

TEST(Watch, ListsAgainAfterSilence) {
  WatchRun run(
      [](const std::string& head, size_t index) {
        if (!IsWatch(head)) return ListOf("a", index == 0 ? 99 : 7);
        // A server that was restored waits in silence for a revision in the future.
        if (head.find("resourceVersion=99&") != std::string::npos) return Stream({}, Then::kHang);
        return Stream({WatchLine("ADDED", "c", 8)}, Then::kHang);
      },
      {.idle_limit = milliseconds(30)});
  EXPECT_THAT(run.Until("added c 8"), ElementsAre("begin", "listed a", "end 99", "begin",
                                                  "listed a", "end 7", "added c 8"));
}

TEST(Watch, StopsWhileTheServerIsSilent) {
  for (const bool in_list : {true, false}) {
    WatchRun run([in_list](const std::string& head, size_t) {
      if (in_list || IsWatch(head)) return Stream({}, Then::kHang);
      return ListOf("a", 7);
    });
    if (!in_list) run.Until("end 7");
    while (run.server.Heads().size() < (in_list ? 1U : 2U)) std::this_thread::yield();
    const auto begun = std::chrono::steady_clock::now();
    run.watch.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(10))
        << "the silence takes a minute";
  }
}

}  // namespace
}  // namespace berth::kube
