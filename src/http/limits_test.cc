// Tests hostile and careless clients on real sockets. Every limit is reached, the right thing
// happens, and the next client is served.
#include "http/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "http/testing/socket_peer.h"

namespace berth::http {
namespace {

using std::chrono::milliseconds;
using testing::StartsWith;

constexpr std::string_view kShortGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

std::string LargeBody() {
  std::string body;
  body.resize(size_t{48} << 20, 'x');
  return body;
}

void ExpectServes(TestServer& server, bool tls) {
  SocketPeer peer = tls ? server.Http1() : server.Plain();
  EXPECT_THAT(peer.Exchange(kShortGet, "GET /a "), StartsWith("HTTP/1.1 200"));
}

TEST(Limits, ConnectionsInTotal) {
  TestServer server(false, {.connections = 3});
  std::vector<SocketPeer> peers;
  for (int i = 0; i < 3; ++i) {
    peers.push_back(server.Plain());
    EXPECT_THAT(peers.back().Exchange(kShortGet, "GET /a "), StartsWith("HTTP/1.1 200"));
  }
  SocketPeer over = server.Plain();
  over.Send(kShortGet);
  EXPECT_EQ(over.Receive(), "");
  EXPECT_EQ(server.server->stats().connections_refused, 1U);
  peers.clear();
  ASSERT_TRUE(TestServer::Eventually([&] { return server.server->stats().connections_now == 0; }));
  ExpectServes(server, false);
}

TEST(Limits, ConnectionsPerThread) {
  TestServer server(false, {.connections_per_thread = 2});  // Two threads.
  std::vector<SocketPeer> peers;
  for (int i = 0; i < 4; ++i) {
    peers.push_back(server.Plain());
    EXPECT_THAT(peers.back().Exchange(kShortGet, "GET /a "), StartsWith("HTTP/1.1 200"));
  }
  SocketPeer over = server.Plain();
  over.Send(kShortGet);
  EXPECT_EQ(over.Receive(), "");
}

TEST(Limits, AThousandIdleConnectionsAreNoTrouble) {
  AllowManyFiles();
  TestServer server(true);
  std::vector<SocketPeer> peers;
  peers.reserve(1000);
  for (int i = 0; i < 1000; ++i) peers.push_back(i % 4 == 0 ? server.Http1() : server.Plain());
  ASSERT_TRUE(
      TestServer::Eventually([&] { return server.server->stats().connections_now == 1000; }));
  ExpectServes(server, true);
  EXPECT_THAT(peers[500 - 500 % 4].Exchange(kShortGet, "GET /a "), StartsWith("HTTP/1.1 200"));
}

TEST(Limits, IdleConnectionsAreClosed) {
  TestServer server(true, {.idle = milliseconds(50)});
  SocketPeer one = server.Http1();
  EXPECT_THAT(one.Exchange(kShortGet, "GET /a "), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(one.Receive(), "");
  SocketPeer two = server.Http2();
  H2Peer h2;
  EXPECT_TRUE(two.Talk(h2, [&] { return h2.goaway.has_value(); }));
  EXPECT_EQ(h2.goaway, NGHTTP2_NO_ERROR);
  EXPECT_EQ(server.server->stats().timeouts, 0U);
}

TEST(Limits, HalfARequestIsGivenUp) {
  TestServer server(false, {.header_read = milliseconds(50), .body_span = milliseconds(50)});
  SocketPeer head = server.Plain();
  EXPECT_THAT(head.Exchange("GET / HTTP/1.1\r\nHo", "in time"), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(head.ReceiveAll().find("HTTP"), std::string::npos);
  SocketPeer body = server.Plain();
  EXPECT_THAT(body.Exchange("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc", "slowly"),
              StartsWith("HTTP/1.1 408"));
  SocketPeer gone = server.Plain();
  gone.Send("GET / HTTP/1.1\r\nHo");
  gone.Close();
  ExpectServes(server, false);
  EXPECT_EQ(server.server->stats().timeouts, 2U);
}

TEST(Limits, SilentHandshakesAreGivenUp) {
  TestServer server(true, {.handshake = milliseconds(50)});
  SocketPeer silent = server.Plain();
  EXPECT_EQ(silent.Receive(), "");
  SocketPeer half = server.Plain();
  half.Send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  EXPECT_EQ(half.Receive(), "");
  EXPECT_EQ(server.server->stats().handshakes_failed, 2U);
  ExpectServes(server, true);
}

TEST(Limits, GarbageInsteadOfTlsIsClosed) {
  TestServer server(true);
  const uint64_t seed = base::TestSeed(20261115);
  base::SeededRandom random(seed);
  for (int i = 0; i < 50; ++i) {
    SocketPeer peer = server.Plain();
    std::string bytes = i % 2 == 0 ? "\x16\x03\x01" : "";
    for (int k = 0; k < 300; ++k) bytes += static_cast<char>(random.Next());
    peer.Send(bytes);
    peer.Close();
  }
  SocketPeer http = server.Plain();
  http.Send(kShortGet);
  http.ReceiveAll();  // An alert, then the end.
  EXPECT_TRUE(TestServer::Eventually([&] {
    return server.server->stats().handshakes_failed == 51;
  })) << "seed "
      << seed;
  EXPECT_TRUE(TestServer::Eventually([&] { return server.server->stats().connections_now == 0; }));
  ExpectServes(server, true);
}

TEST(Limits, AHeaderFloodIsRefused) {
  TestServer server(false);
  SocketPeer peer = server.Plain();
  peer.Send("GET / HTTP/1.1\r\nHost: h\r\n");
  const std::string field = "X-Flood: " + std::string(1000, 'x') + "\r\n";
  int sent = 0;
  while (sent < 1000 && peer.Send(field)) ++sent;
  EXPECT_THAT(peer.ReceiveAll(), StartsWith("HTTP/1.1 431"));
  ExpectServes(server, false);
}

TEST(Limits, AnAnswerThatNobodyReadsIsDropped) {
  TestServer server(true, {.write_stall = milliseconds(100)},
                    [](const Request& request, const Responder& respond) {
                      respond.Finish({.body = request.path == "/large" ? LargeBody() : "GET /a "});
                    });
  SocketPeer peer(server.port(), SocketPeer::Tls{}, 4096);
  peer.Send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(TestServer::Eventually([&] { return server.server->stats().timeouts == 1; }));
  EXPECT_TRUE(TestServer::Eventually([&] { return server.server->stats().connections_now == 0; }));
  ExpectServes(server, true);
}

TEST(Limits, RapidResetsEndTheConnection) {
  TestServer server(true, {.h2 = {.resets = {.burst = 100, .per_second = 1}}});
  SocketPeer peer = server.Http2();
  H2Peer h2;
  for (int i = 0; i < 1000; ++i) {
    const int32_t id = h2.Ask("GET", "/");
    std::string bytes = h2.Take();
    h2.Reset(id);
    bytes += h2.Take();
    if (!peer.Send(bytes)) break;
  }
  EXPECT_TRUE(peer.Talk(h2, [&] { return h2.goaway.has_value(); }));
  EXPECT_EQ(h2.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(server.server->stats().h2_abuses, 1U);
  EXPECT_LE(server.server->stats().requests_http2, 110U);
  ExpectServes(server, true);
}

TEST(Limits, StreamsPerConnection) {
  TestServer server(true, {.h2_streams = 100}, [](const Request&, const Responder&) {});
  SocketPeer peer = server.Http2();
  H2Peer h2;
  std::vector<int32_t> ids;
  for (int i = 0; i < 120; ++i) ids.push_back(h2.Ask("GET", "/"));
  EXPECT_TRUE(peer.Talk(h2, [&] { return h2.answer(ids.back()).closed.has_value(); }));
  EXPECT_EQ(h2.max_streams, 100U);
  EXPECT_EQ(h2.answer(ids.back()).closed, NGHTTP2_REFUSED_STREAM);
  EXPECT_FALSE(h2.answer(ids.front()).closed);
  EXPECT_EQ(server.server->stats().requests_http2, 100U);
}

}  // namespace
}  // namespace berth::http
