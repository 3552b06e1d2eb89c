// Tests long answers on real sockets: fan-out, slow readers and the end of streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "http/source.h"
#include "http/testing/socket_peer.h"

namespace berth::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::string_view kGetWatch = "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n";

/// A list of events, each kept once. Sources are cursors into the list.
class Hub {
 public:
  void Publish(std::string text) {
    {
      base::MutexLock lock(mutex_);
      events_.push_back(std::make_shared<const std::string>(std::move(text)));
    }
    signal.Notify();
  }
  std::shared_ptr<const std::string> At(size_t i) {
    base::MutexLock lock(mutex_);
    return i < events_.size() ? events_[i] : nullptr;
  }

  Signal signal;
  std::atomic<int> sources{0};
  std::atomic<uint64_t> pulled{0};  // Bytes that sources have returned.

 private:
  base::Mutex mutex_;
  std::vector<std::shared_ptr<const std::string>> events_ GUARDED_BY(mutex_);
};

class Cursor final : public Source {
 public:
  explicit Cursor(Hub& hub) : hub_(hub) { ++hub_.sources; }
  ~Cursor() override { --hub_.sources; }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Pulled Pull(Pieces& out, size_t room) override {
    while (auto event = hub_.At(next_)) {
      if (out.bytes() >= room) return Pulled::kMore;
      hub_.pulled += event->size();
      out.Add(std::move(event));
      ++next_;
    }
    return draining_ ? Pulled::kEnd : Pulled::kWait;
  }
  Signal* signal() override { return &hub_.signal; }
  void OnDrain() override { draining_ = true; }

 private:
  Hub& hub_;
  size_t next_ = 0;
  bool draining_ = false;
};

struct WatchServer {
  explicit WatchServer(bool tls = true)
      : server(tls, {}, [this](const Request& request, const Responder& respond) {
          if (request.path == "/watch") {
            respond.Stream(200, {}, std::make_unique<Cursor>(hub));
          } else {
            TestServer::Echo(request, respond);
          }
        }) {}

  Hub hub;
  TestServer server;
};

struct Watchers {
  Watchers(const TestServer& server, int http1, int http2, int streams) {
    for (int i = 0; i < http1; ++i) {
      ones.push_back(std::make_unique<SocketPeer>(server.port(), SocketPeer::Tls{}));
      ones.back()->Send(kGetWatch);
      EXPECT_THAT(ones.back()->ReceiveUntil("\r\n\r\n"), HasSubstr("chunked"));
    }
    for (int i = 0; i < http2; ++i) {
      twos.push_back(std::make_unique<SocketPeer>(server.port(), SocketPeer::Tls{.http2 = true}));
      peers.push_back(std::make_unique<H2Peer>());
      for (int k = 0; k < streams; ++k) ids.push_back(peers.back()->Ask("GET", "/watch"));
      H2Peer& peer = *peers.back();
      const int32_t last = ids.back();
      EXPECT_TRUE(twos.back()->Talk(peer, [&] { return peer.Status(last) == "200"; }));
    }
    ids.resize(static_cast<size_t>(streams));
  }

  std::vector<std::unique_ptr<SocketPeer>> ones;
  std::vector<std::unique_ptr<SocketPeer>> twos;
  std::vector<std::unique_ptr<H2Peer>> peers;
  std::vector<int32_t> ids;  // The same on every connection.
};

TEST(Streams, FanOutToHundredsOnBothProtocols) {
  WatchServer world;
  Watchers watchers(world.server, 40, 5, 60);
  ASSERT_TRUE(TestServer::Eventually([&] { return world.hub.sources == 340; }));
  std::thread publisher([&] {
    for (int i = 0; i < 100; ++i) {
      world.hub.Publish("event " + std::to_string(i) + ".\n");
      if (i % 10 == 0) std::this_thread::sleep_for(milliseconds(2));
    }
    world.hub.Publish("the end\n");
  });
  std::string whole;
  for (int i = 0; i < 100; ++i) whole += "event " + std::to_string(i) + ".\n";
  whole += "the end\n";
  for (const auto& peer : watchers.ones) {
    const std::string chunks = peer->ReceiveUntil("the end\n");
    for (int i = 0; i < 100; ++i) {
      ASSERT_THAT(chunks, HasSubstr("event " + std::to_string(i) + "."));
    }
  }
  for (size_t i = 0; i < watchers.twos.size(); ++i) {
    H2Peer& peer = *watchers.peers[i];
    ASSERT_TRUE(watchers.twos[i]->Talk(peer, [&] {
      return std::ranges::all_of(
          watchers.ids, [&](int32_t id) { return peer.answer(id).body.size() == whole.size(); });
    }));
    for (const int32_t id : watchers.ids) ASSERT_EQ(peer.answer(id).body, whole);
  }
  publisher.join();
  EXPECT_EQ(world.server.server->stats().streams_now, 340U);
  for (auto& peer : watchers.ones) peer->Close();
  for (auto& peer : watchers.twos) peer->Close();
  EXPECT_TRUE(TestServer::Eventually([&] { return world.hub.sources == 0; }))
      << "clients that are gone are noticed";
}

TEST(Streams, ASlowReaderCostsLittleAndHoldsNobodyUp) {
  WatchServer world(false);
  SocketPeer slow(world.server.port(), std::nullopt, 4096);
  slow.Send(kGetWatch);
  slow.ReceiveUntil("\r\n\r\n");
  SocketPeer quick(world.server.port());
  quick.Send(kGetWatch);
  quick.ReceiveUntil("\r\n\r\n");
  ASSERT_TRUE(TestServer::Eventually([&] { return world.hub.sources == 2; }));
  constexpr size_t kEvent = 10'000;
  constexpr size_t kEvents = 3'000;
  const auto event = [](size_t i) {
    std::string text = "<" + std::to_string(i) + ">";
    return text + std::string(kEvent - text.size(), 'e');
  };
  std::thread publisher([&] {
    for (size_t i = 0; i < kEvents; ++i) world.hub.Publish(event(i));
    world.hub.Publish("the end");
  });
  size_t got = 0;
  std::string tail;
  while (!tail.ends_with("the end\r\n")) {
    const std::string part = quick.Receive();
    ASSERT_FALSE(part.empty());
    got += part.size();
    tail += part;
    tail.erase(0, std::max<size_t>(tail.size(), 20) - 20);
  }
  publisher.join();
  EXPECT_GE(got, kEvent * kEvents);
  // Of 30 MB, the slow client has been sent only what fits into the buffers of kernel and server.
  EXPECT_LT(world.hub.pulled, kEvent * kEvents + (8U << 20));
  // The slow client is late but misses nothing.
  const std::string late = slow.ReceiveUntil("<50>");
  for (size_t i = 0; i < 50; ++i) EXPECT_THAT(late, HasSubstr("<" + std::to_string(i) + ">"));
}

TEST(Streams, EndInGoodOrderWhenTheServerDrains) {
  WatchServer world;
  Watchers watchers(world.server, 5, 2, 10);
  world.hub.Publish("one\n");
  std::thread drainer([&] { EXPECT_TRUE(world.server.server->Drain(seconds(20))); });
  for (const auto& peer : watchers.ones) {
    EXPECT_THAT(peer->ReceiveAll(), EndsWith("one\n\r\n0\r\n\r\n"));
    peer->Close();
  }
  for (size_t i = 0; i < watchers.twos.size(); ++i) {
    H2Peer& peer = *watchers.peers[i];
    watchers.twos[i]->Talk(peer, [&] {
      return peer.goaway &&
             std::ranges::all_of(watchers.ids, [&](int32_t id) { return peer.answer(id).ended; });
    });
    EXPECT_EQ(peer.goaway, NGHTTP2_NO_ERROR);
    for (const int32_t id : watchers.ids) EXPECT_EQ(peer.answer(id).body, "one\n");
    watchers.twos[i]->Close();
  }
  drainer.join();
  EXPECT_EQ(world.hub.sources, 0);
}

TEST(Streams, AreGoneWithTheServerWhateverIsUnderWay) {
  for (int round = 0; round < 5; ++round) {
    Hub hub;
    std::atomic<bool> stop{false};
    base::Mutex mutex;
    std::deque<Responder> waiting;
    auto server = std::make_unique<TestServer>(
        true, Limits{}, [&](const Request& request, const Responder& respond) {
          if (request.path == "/watch") {
            respond.Stream(200, {}, std::make_unique<Cursor>(hub));
          } else {
            base::MutexLock lock(mutex);
            waiting.push_back(respond);
          }
        });
    auto watchers = std::make_unique<Watchers>(*server, 5, 2, 20);
    SocketPeer pending = server->Http1();
    pending.Send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    SocketPeer half = server->Http1();
    half.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc");
    SocketPeer greeting = server->Plain();
    std::thread publisher([&] {
      while (!stop) {
        hub.Publish(std::string(500, 'x'));
        base::MutexLock lock(mutex);
        if (!waiting.empty()) waiting.front().Finish({.body = "done"});
        lock.Unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    std::this_thread::sleep_for(milliseconds(20));
    server.reset();
    EXPECT_EQ(hub.sources, 0);
    stop = true;
    publisher.join();
  }
}

}  // namespace
}  // namespace berth::http
