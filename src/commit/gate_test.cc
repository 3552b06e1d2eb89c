#include "commit/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

namespace berth::commit {
namespace {

TEST(GateTest, CallsRunUntilItIsClosed) {
  const auto gate = std::make_shared<Gate>();
  int sum = 0;
  auto add = Gated(gate, [&sum](int number) { sum += number; });
  add(1);
  gate->Inside([&] { add(2); });  // Calls may be nested.
  gate->Close();
  add(4);
  gate->Inside([&sum] { sum += 8; });
  EXPECT_EQ(sum, 3);
  gate->Close();
}

TEST(GateTest, CloseWaitsForACallThatRuns) {
  Gate gate;
  std::promise<void> entered;
  std::promise<void> leave;
  std::atomic<bool> left = false;
  std::thread caller([&] {
    gate.Inside([&] {
      entered.set_value();
      leave.get_future().wait();
      left = true;
    });
  });
  entered.get_future().wait();
  auto closed = std::async(std::launch::async, [&] {
    gate.Close();
    return left.load();
  });
  EXPECT_EQ(closed.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  leave.set_value();
  EXPECT_TRUE(closed.get());
  caller.join();
}

}  // namespace
}  // namespace berth::commit
