#include "store/blocking.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/memory_engine.h"

namespace berth::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Blocking : public testing::Test {
 protected:
  void Put(std::string key) {
    const TxnReply reply = CommitNow(*engine_, {.puts = {{.key = std::move(key)}}});
    EXPECT_EQ(reply.outcome, Outcome::kCommitted);
  }

  const base::SystemClock clock_;
  const std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Make({}, clock_);
};

TEST_F(Blocking, WaitsForAValueFromAnotherThread) {
  Awaited<std::string> value;
  std::jthread setter([set = value.Setter()] {
    std::this_thread::sleep_for(milliseconds(20));
    set("late");
  });
  EXPECT_EQ(value.Wait(), "late");
}

TEST_F(Blocking, WalksAllPages) {
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key);
  std::vector<size_t> sizes;
  const auto at = ScanPages(*engine_, {.limit = 2}, [&](ScanPage& page) {
    sizes.push_back(page.entries.size());
    page.entries.clear();
    Put("bb");  // Not a part of the state that is being read.
  });
  EXPECT_EQ(at, Revision{5});
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 2, 1}));
  EXPECT_EQ(ScanAll(*engine_, "", {3})->entries.size(), 3U);
  EXPECT_EQ(ScanAll(*engine_, "", {99}).error().reason, base::Reason::kBadRequest);
}

TEST_F(Blocking, AReaderTakesWhatItIsAskedFor) {
  WatchReader reader(*engine_, {});
  for (const char* key : {"a", "b", "c"}) Put(key);
  EXPECT_EQ(reader.Next(2, steady_clock::now())->size(), 2U);
  EXPECT_EQ(reader.Progress(), Revision{2});
  // At the deadline, Next returns the events that have come.
  EXPECT_EQ(reader.Next(2, steady_clock::now() + milliseconds(10))->size(), 1U);
  EXPECT_EQ(reader.Next(1, steady_clock::now())->size(), 0U);
}

TEST_F(Blocking, AReaderWaitsForWhatOthersWrite) {
  WatchReader reader(*engine_, {.prefix = "a"});
  EXPECT_EQ(reader.Next(1, steady_clock::now())->size(), 0U);
  std::jthread writer([this] {
    for (const char* key : {"a1", "b", "a2"}) {
      std::this_thread::sleep_for(milliseconds(5));
      Put(key);
    }
  });
  EXPECT_EQ(reader.Next(2, steady_clock::now() + std::chrono::minutes(1))->size(), 2U);
  EXPECT_GE(reader.Wakes(), 1U);
}

TEST_F(Blocking, AReaderSaysWhenProgressIsTooSlow) {
  WatchReader reader(*engine_, {.prefix = "none"});
  Put("a");
  EXPECT_TRUE(reader.UntilProgress({1}, steady_clock::now())->empty());
  const auto late = reader.UntilProgress({2}, steady_clock::now() + milliseconds(10));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().reason, base::Reason::kTimeout);
}

TEST_F(Blocking, AReaderHandsOnErrors) {
  for (const char* key : {"a", "b", "c"}) Put(key);
  ASSERT_TRUE(CompactNow(*engine_, {2}).has_value());
  WatchReader reader(*engine_, {.after = {1}});
  EXPECT_EQ(reader.Next(1, steady_clock::now()).error().reason, base::Reason::kExpired);
  EXPECT_EQ(reader.UntilProgress({3}, steady_clock::now()).error().reason, base::Reason::kExpired);
}

}  // namespace
}  // namespace berth::store
