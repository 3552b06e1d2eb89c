// Tests signals and mailboxes: no notification is lost, and none causes a needless second wake-up.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/testing/base_kit.h"
#include "http/mailbox.h"
#include "http/outflow.h"

namespace berth::http {
namespace {

/// A minimal io thread, which waits until its mailbox has something to run.
class Loop final : public MailboxOwner {
 public:
  void OnFinish(StreamKey, Response) override { ++finished; }
  void OnStream(StreamKey, Response, std::unique_ptr<Source>) override {}

  void RunUntil(const std::function<bool()>& done) {
    mailbox->Open();
    while (!done()) {
      {
        base::MutexLock lock(mutex_);
        while (!told_) condition_.Wait(mutex_);
        told_ = false;
      }
      ++wakes;
      mailbox->RunAll();
    }
    mailbox->Close();
  }

  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>(*this, [this] {
    base::MutexLock lock(mutex_);
    told_ = true;
    condition_.NotifyOne();
  });
  int finished = 0;
  int wakes = 0;

 private:
  base::Mutex mutex_;
  base::CondVar condition_;
  bool told_ GUARDED_BY(mutex_) = false;
};

/// Counts how often its streams are woken.
class Host final : public FlowHost {
 public:
  void OnWoken(int32_t /*stream*/) override {
    ++woken;
    if (on_woken) on_woken();
  }
  int woken = 0;
  std::function<void()> on_woken;
};

/// A source that counts up to the published number.
class Counting final : public Source {
 public:
  Counting(Signal& signal, const std::atomic<int64_t>& published)
      : signal_(signal), published_(published) {}
  Pulled Pull(Pieces& out, size_t /*room*/) override {
    const int64_t now = published_.load(std::memory_order_relaxed);
    if (now == seen) return Pulled::kWait;
    seen = now;
    out.Add(std::string("x"));
    return Pulled::kMore;
  }
  Signal* signal() override { return &signal_; }

  int64_t seen = 0;

 private:
  Signal& signal_;
  const std::atomic<int64_t>& published_;
};

TEST(Signal, LosesNothingBetweenThreads) {
  const int64_t events = base::LongCount(200'000);
  Signal signal;
  std::atomic<int64_t> published{0};
  std::atomic<int64_t> seen{-1};  // The number that every stream has reached.
  Loop loop;
  std::thread io([&] {
    Host host;
    std::vector<Counting*> sources;
    std::vector<std::unique_ptr<Outflow>> flows;
    for (int i = 0; i < 20; ++i) {
      auto source = std::make_unique<Counting>(signal, published);
      sources.push_back(source.get());
      flows.push_back(std::make_unique<Outflow>(std::move(source), loop.mailbox, host, 0));
    }
    loop.RunUntil([&] {
      int64_t least = events;
      for (size_t i = 0; i < flows.size(); ++i) {
        while (flows[i]->Fill(1000) == Outflow::State::kBytes) flows[i]->pieces().Clear();
        least = std::min(least, sources[i]->seen);
      }
      seen = least;
      return least == events;
    });
  });
  // The test hangs if a notification is lost. Now and then it lets the streams catch up, so that
  // the next notification comes just as they begin to wait.
  while (seen < 0) std::this_thread::yield();
  for (int64_t i = 1; i <= events; ++i) {
    published.fetch_add(1, std::memory_order_relaxed);
    signal.Notify();
    while (i % 7 == 0 && seen < i) std::this_thread::yield();
  }
  io.join();
  EXPECT_GT(loop.wakes, 1);
  EXPECT_LE(loop.wakes, events + 1);
}

TEST(Signal, WakesOnceForManyNotificationsAndNobodyWhoDoesNotWait) {
  Signal signal;
  std::atomic<int64_t> published{0};
  int scheduled = 0;
  Loop owner;
  auto mailbox = std::make_shared<Mailbox>(owner, [&] { ++scheduled; });
  mailbox->Open();
  signal.Notify();
  EXPECT_EQ(scheduled, 0) << "nobody waits";
  Host host;
  std::vector<std::unique_ptr<Outflow>> flows;
  for (int i = 0; i < 1000; ++i) {
    flows.push_back(
        std::make_unique<Outflow>(std::make_unique<Counting>(signal, published), mailbox, host, 0));
    EXPECT_EQ(flows.back()->Fill(10), Outflow::State::kWaiting);
  }
  for (int i = 0; i < 100; ++i) signal.Notify();
  EXPECT_EQ(scheduled, 1);
  flows.resize(500);  // Half of the streams are destroyed before they are woken.
  mailbox->RunAll();
  EXPECT_EQ(host.woken, 500);
  signal.Notify();
  EXPECT_EQ(scheduled, 1) << "nobody waits any more";
  mailbox->Close();
}

TEST(Signal, AStreamThatIsFilledAtOnceAndOneThatGoesAreWokenOnce) {
  Signal signal;
  std::atomic<int64_t> published{0};
  Loop owner;
  auto mailbox = std::make_shared<Mailbox>(owner, [] {});
  mailbox->Open();
  Host host;
  std::vector<std::unique_ptr<Outflow>> flows;
  for (int i = 0; i < 100; ++i) {
    flows.push_back(
        std::make_unique<Outflow>(std::make_unique<Counting>(signal, published), mailbox, host, 0));
    EXPECT_EQ(flows.back()->Fill(10), Outflow::State::kWaiting);
  }
  // The first stream is filled and waits again. The wake of each other stream destroys one that has
  // not been woken yet.
  host.on_woken = [&] {
    if (host.woken == 1) {
      EXPECT_EQ(flows[0]->Fill(10), Outflow::State::kBytes);
      flows[0]->pieces().Clear();
      EXPECT_EQ(flows[0]->Fill(10), Outflow::State::kWaiting);
    } else {
      flows.pop_back();
    }
  };
  published = 1;
  signal.Notify();
  mailbox->RunAll();
  EXPECT_EQ(host.woken, 50 + 1) << "99 in pairs, the last one alone";
  host.on_woken = nullptr;
  host.woken = 0;
  published = 2;
  signal.Notify();
  mailbox->RunAll();
  EXPECT_EQ(host.woken, 1) << "the one that waits again";
  mailbox->Close();
}

TEST(Mailbox, CarriesOutInOrderAndDropsWhatComesLate) {
  Loop owner;
  int scheduled = 0;
  Mailbox mailbox(owner, [&] { ++scheduled; });
  std::string order;
  mailbox.Call([&] { order += "a"; });
  mailbox.Call([&] { order += "b"; });
  EXPECT_EQ(scheduled, 1);
  mailbox.RunAll();
  EXPECT_EQ(order, "ab");
  mailbox.Call([&] { order += "c"; });
  EXPECT_EQ(scheduled, 2);
  mailbox.Close();
  mailbox.Call([&] { order += "d"; });
  mailbox.RunAll();
  EXPECT_EQ(order, "ab");
}

}  // namespace
}  // namespace berth::http
