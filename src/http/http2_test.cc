// Tests HTTP/2 without sockets. A client and the server's protocol pass bytes to each other.
#include "http/http2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "http/testing/h2_peer.h"
#include "http/testing/http_kit.h"

namespace berth::http {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;

struct Http2Fixture {
  explicit Http2Fixture(Limits limits = {}, uint32_t window = 1U << 20, bool reads = true)
      : stage(limits), http(stage.env, stage, stage.peer), client(window, reads) {}

  /// Passes bytes until neither side has output.
  void Talk(size_t room = 4096) {
    for (;;) {
      const std::string asked = client.Take();
      if (!asked.empty()) http.Receive(asked);
      std::string answered;
      http.Produce(answered, room);
      if (!answered.empty()) client.Give(answered);
      if (asked.empty() && answered.empty()) return;
    }
  }
  void Echo() {
    stage.handler = [this](uint32_t stream, const Request& request) {
      http.Finish(stream, {.headers = {{"x-a", "b"}, {"connection", "close"}},
                           .body = request.method + " " + request.path + " " + request.body});
    };
  }
  std::shared_ptr<ScriptSource::Script> StartStream(seconds wake = seconds(0)) {
    auto script = std::make_shared<ScriptSource::Script>();
    if (wake > seconds(0)) script->wake_at = stage.clock.Steady() + wake;
    stage.handler = [this, script](uint32_t stream, const Request&) {
      http.Stream(stream, {}, std::make_unique<ScriptSource>(script));
    };
    last = client.Ask("GET", "/");
    Talk();
    stage.handler = nullptr;
    return script;
  }

  ProtocolStage stage;
  Http2 http;
  H2Peer client;
  int32_t last = 0;
};

TEST(Http2, ReadsRequestsAndAnswers) {
  Http2Fixture f;
  const int32_t id = f.client.Ask("POST", "/a/b?c=d", "hello", {{"x-one", "1"}});
  f.Talk();
  ASSERT_EQ(f.stage.asked.size(), 1U);
  const auto& [stream, request] = f.stage.asked[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a/b");
  EXPECT_EQ(request.query, "c=d");
  EXPECT_EQ(request.body, "hello");
  EXPECT_GE(request.body.capacity(), request.body.size() + 64);
  EXPECT_EQ(request.protocol, 2);
  EXPECT_EQ(request.headers.Find("host"), "h");
  EXPECT_EQ(request.headers.Find("x-one"), "1");
  f.http.Finish(stream, {.code = 201, .body = "made"});
  f.http.Finish(stream, {.code = 500, .body = "a second answer"});
  f.Talk();
  EXPECT_EQ(f.client.Status(id), "201");
  EXPECT_EQ(f.client.answer(id).body, "made");
  EXPECT_EQ(f.client.answer(id).headers["content-length"], "4");
  EXPECT_EQ(f.client.answer(id).headers["date"], "Tue, 14 Nov 2023 22:13:20 GMT");
  EXPECT_EQ(f.client.answer(id).closed, NGHTTP2_NO_ERROR);
  EXPECT_EQ(f.client.max_streams, 250U);
}

TEST(Http2, AnswersInAnyOrder) {
  Http2Fixture f;
  const int32_t first = f.client.Ask("GET", "/1");
  const int32_t second = f.client.Ask("GET", "/2");
  f.Talk();
  ASSERT_EQ(f.stage.asked.size(), 2U);
  f.http.Finish(f.stage.asked[1].stream, {.body = "two"});
  f.Talk();
  EXPECT_EQ(f.client.answer(second).body, "two");
  EXPECT_FALSE(f.client.answer(first).closed);
  f.http.Finish(f.stage.asked[0].stream, {.body = "one"});
  f.Talk();
  EXPECT_EQ(f.client.answer(first).body, "one");
}

TEST(Http2, AnswersHeadAndEmptyBodies) {
  Http2Fixture f;
  f.Echo();
  const int32_t head = f.client.Ask("HEAD", "/abc");
  f.Talk();
  EXPECT_EQ(f.client.answer(head).headers["content-length"], "10");
  EXPECT_EQ(f.client.answer(head).body, "");
  EXPECT_TRUE(f.client.answer(head).ended);
  EXPECT_FALSE(f.client.answer(head).headers.contains("connection"));
  f.stage.handler = [&f](uint32_t stream, const Request&) { f.http.Finish(stream, {.code = 204}); };
  const int32_t none = f.client.Ask("DELETE", "/");
  f.Talk();
  EXPECT_EQ(f.client.Status(none), "204");
  EXPECT_FALSE(f.client.answer(none).headers.contains("content-length"));
}

TEST(Http2, SendsALargeBodyAsFastAsTheClientTakesIt) {
  Http2Fixture f({}, 10'000, false);
  f.stage.handler = [&f](uint32_t stream, const Request&) {
    Pieces body;
    const auto piece = std::make_shared<const std::string>(1000, 'x');
    for (int i = 0; i < 1000; ++i) body.Add(piece);
    f.http.Finish(stream, {.body = std::move(body)});
  };
  const int32_t id = f.client.Ask("GET", "/");
  f.Talk();
  EXPECT_EQ(f.client.answer(id).body.size(), 10'000U) << "no more than the window";
}

TEST(Http2, ProducesLittleAtATime) {
  Http2Fixture f({}, 1U << 24);
  f.stage.handler = [&f](uint32_t stream, const Request&) {
    f.http.Finish(stream, {.body = std::string(5'000'000, 'x')});
  };
  const int32_t id = f.client.Ask("GET", "/");
  f.http.Receive(f.client.Take());
  std::string out;
  f.http.Produce(out, 50'000);
  EXPECT_LT(out.size(), 50'000U + (1U << 14) + 1000);
  f.client.Give(out);
  f.Talk();
  EXPECT_EQ(f.client.answer(id).body.size(), 5'000'000U);
}

TEST(Http2, RefusesBodiesOverTheLimitAndGoesOn) {
  Http2Fixture f({.body_bytes = 1000});
  f.Echo();
  const int32_t exact = f.client.Ask("POST", "/", std::string(1000, 'a'));
  const int32_t over = f.client.Ask("POST", "/", std::string(1001, 'a'));
  const int32_t said = f.client.Ask("POST", "/", "x", {{"content-length", "1001"}}, true);
  f.Talk();
  EXPECT_EQ(f.client.Status(exact), "200");
  EXPECT_EQ(f.client.Status(over), "413");
  EXPECT_EQ(f.client.Status(said), "413") << "before the body is there";
  EXPECT_FALSE(f.client.answer(said).closed) << "it may take its time to see that";
  const int32_t next = f.client.Ask("GET", "/");
  f.Talk();
  EXPECT_EQ(f.client.Status(next), "200");
  f.stage.Pass(f.http, f.stage.limits.body_span / 2);
  f.Talk();
  EXPECT_EQ(f.client.answer(said).closed, NGHTTP2_NO_ERROR) << "the rest is not wanted";
}

TEST(Http2, ThrowsAwaySomeOfABodyAfterAnEarlyAnswerButNotAll) {
  Http2Fixture f({.body_bytes = 1000});
  const int32_t some = f.client.Ask("POST", "/", std::string(7U << 20, 'a'));
  const int32_t much = f.client.Ask("POST", "/", std::string(9U << 20, 'a'));
  f.Talk();
  for (const int32_t id : {some, much}) {
    EXPECT_EQ(f.client.Status(id), "413");
    EXPECT_EQ(f.client.answer(id).closed, NGHTTP2_NO_ERROR);
  }
  EXPECT_TRUE(f.stage.bodies.Take(f.stage.limits.body_memory)) << "none of it is held";
}

TEST(Http2, RefusesLongHeadersAndTargets) {
  Http2Fixture f({.header_bytes = 2000, .header_count = 20, .request_line_bytes = 100});
  f.Echo();
  const int32_t large = f.client.Ask("GET", "/", "", {{"x", std::string(2000, 'a')}});
  H2Peer::Fields many;
  for (int i = 0; i < 21; ++i) many.emplace_back("x" + std::to_string(i), "v");
  const int32_t count = f.client.Ask("GET", "/", "", many);
  const int32_t target = f.client.Ask("GET", "/" + std::string(100, 'a'));
  const int32_t fine = f.client.Ask("GET", "/");
  f.Talk();
  EXPECT_EQ(f.client.Status(large), "431");
  EXPECT_EQ(f.client.Status(count), "431");
  EXPECT_EQ(f.client.Status(target), "414");
  EXPECT_EQ(f.client.Status(fine), "200");
}

TEST(Http2, RefusesStreamsOverTheLimit) {
  Http2Fixture f({.h2_streams = 3});
  std::vector<int32_t> ids;  // All sent before the client can know the limit.
  for (int i = 0; i < 5; ++i) ids.push_back(f.client.Ask("GET", "/" + std::to_string(i)));
  f.Talk();
  EXPECT_EQ(f.client.max_streams, 3U);
  EXPECT_EQ(f.stage.asked.size(), 3U);
  EXPECT_EQ(f.client.answer(ids[3]).closed, NGHTTP2_REFUSED_STREAM);
  EXPECT_EQ(f.client.answer(ids[4]).closed, NGHTTP2_REFUSED_STREAM);
  f.http.Finish(f.stage.asked[0].stream, {});
  f.client.Ask("GET", "/again");
  f.Talk();
  EXPECT_EQ(f.stage.asked.size(), 4U);
}

TEST(Http2, SharesTheMemoryForAnswersThatNobodyTakes) {
  Http2Fixture f({.answer_memory = 300'000}, 100, false);
  f.stage.handler = [&](uint32_t stream, const Request&) {
    f.http.Finish(stream, {.body = std::string(200'000, 'b'), .bulk = true});
  };
  const int32_t one = f.client.Ask("GET", "/");
  const int32_t two = f.client.Ask("GET", "/");
  f.Talk();
  EXPECT_EQ(f.client.Status(one), "200");
  EXPECT_EQ(f.client.Status(two), "503");
  f.client.Reset(one);
  f.Talk();
  EXPECT_TRUE(f.stage.answers.Take(300'000)) << "all given back";
}

TEST(Http2, SharesTheMemoryForBodies) {
  Http2Fixture f({.body_memory = 1000});
  const int32_t one = f.client.Ask("POST", "/", std::string(600, 'a'), {}, true);
  f.Talk();
  const int32_t two = f.client.Ask("POST", "/", std::string(600, 'a'), {}, true);
  f.Talk();
  EXPECT_EQ(f.client.Status(two), "503");
  EXPECT_FALSE(f.client.answer(one).closed);
  f.client.Reset(one);
  f.Talk();
  EXPECT_TRUE(f.stage.bodies.Take(1000)) << "all given back";
}

// --- streams -------------------------------------------------------------------------------------

TEST(Http2, StreamsWhatIsThereAndWaits) {
  Http2Fixture f;
  const auto script = f.StartStream();
  EXPECT_EQ(f.client.Status(f.last), "200");
  const int pulls = script->pulls;
  f.Talk();
  EXPECT_EQ(script->pulls, pulls);
  script->text = "event";
  script->signal.Notify();
  f.stage.env.mailbox->RunAll();
  f.Talk();
  EXPECT_EQ(f.client.answer(f.last).body, "event");
  script->then = Pulled::kEnd;
  script->signal.Notify();
  f.stage.env.mailbox->RunAll();
  f.Talk();
  EXPECT_TRUE(f.client.answer(f.last).ended);
  EXPECT_TRUE(script->gone);
  EXPECT_EQ(f.stage.counters.streams_now.Get(), 0U);
}

TEST(Http2, PullsAgainAtTheTimeTheSourceNames) {
  Http2Fixture f;
  const auto script = f.StartStream(seconds(5));
  EXPECT_EQ(f.http.Deadline(), script->wake_at);
  script->text = "bookmark";
  f.stage.Pass(f.http, seconds(5));
  f.Talk();
  EXPECT_EQ(f.client.answer(f.last).body, "bookmark");
}

TEST(Http2, ForgetsTheTimeThatAStreamNamedWhichIsGone) {
  Http2Fixture f;
  f.StartStream(seconds(5));
  f.client.Reset(f.last);
  f.Talk();
  f.stage.Pass(f.http, seconds(5));
  // Otherwise the io thread would call again at once, for as long as the connection is open.
  EXPECT_GT(f.http.Deadline(), f.stage.clock.Steady());
}

TEST(Http2, EndsAStreamThatTheClientResets) {
  Http2Fixture f;
  const auto script = f.StartStream();
  f.client.Reset(f.last);
  f.Talk();
  EXPECT_TRUE(script->gone);
}

TEST(Http2, ResetsAnAbortedStream) {
  Http2Fixture f;
  const auto script = f.StartStream();
  script->then = Pulled::kAbort;
  script->signal.Notify();
  f.stage.env.mailbox->RunAll();
  f.Talk();
  EXPECT_EQ(f.client.answer(f.last).closed, NGHTTP2_INTERNAL_ERROR);
  EXPECT_FALSE(f.client.answer(f.last).ended);
}

TEST(Http2, DoesNotPullForAClientWithoutRoom) {
  Http2Fixture f({}, 100, false);
  const auto script = f.StartStream();
  script->then = Pulled::kMore;
  for (int i = 0; i < 10; ++i) {
    script->text = std::string(60, 'x');
    script->signal.Notify();
    f.stage.env.mailbox->RunAll();
    f.Talk();
  }
  EXPECT_EQ(f.client.answer(f.last).body.size(), 100U);
  EXPECT_LE(script->pulls, 5);
}

TEST(Http2, DrainsWithGoawayAndLetsStreamsEnd) {
  Http2Fixture f;
  const auto script = f.StartStream();
  const int32_t busy = f.client.Ask("GET", "/busy");
  f.Talk();
  f.http.Drain();
  f.Talk();
  EXPECT_EQ(f.client.goaway, NGHTTP2_NO_ERROR);
  EXPECT_TRUE(script->drained);
  EXPECT_TRUE(f.client.answer(f.last).ended);
  EXPECT_FALSE(f.http.Done()) << "one is under way";
  f.http.Finish(f.stage.asked.at(0).stream, {.body = "last"});
  f.Talk();
  EXPECT_EQ(f.client.answer(busy).body, "last");
  EXPECT_TRUE(f.http.Done());
}

// --- abuse ---------------------------------------------------------------------------------------

TEST(Http2, TellsAClientThatResetsALotToCalmDown) {
  Http2Fixture f;
  f.Echo();
  for (int i = 0; i < 2000 && !f.client.goaway; ++i) {
    const int32_t id = f.client.Ask("GET", "/");
    f.http.Receive(f.client.Take());
    f.client.Reset(id);
    f.Talk();
  }
  EXPECT_EQ(f.client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_TRUE(f.http.Done());
  EXPECT_EQ(f.stage.counters.h2_abuses.Get(), 1U);
  EXPECT_LE(f.stage.counters.requests_http2.Get(), 501U);
}

TEST(Http2, ToleratesResetsNowAndThen) {
  Http2Fixture f;
  for (int i = 0; i < 2000; ++i) {
    const int32_t id = f.client.Ask("GET", "/");
    f.http.Receive(f.client.Take());
    f.client.Reset(id);
    f.Talk();
    f.stage.clock.Advance(std::chrono::milliseconds(50));
  }
  EXPECT_FALSE(f.client.goaway);
}

TEST(Http2, TellsAClientThatFloodsPingsOrSettingsToCalmDown) {
  for (const bool ping : {true, false}) {
    Http2Fixture f;
    for (int i = 0; i < 2000 && !f.client.goaway; ++i) {
      if (ping) {
        f.client.Ping();
      } else {
        f.client.Settings();
      }
      f.Talk();
    }
    EXPECT_EQ(f.client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

TEST(Http2, EndsAConnectionThatNeverReadsItsAcks) {
  Http2Fixture f({.h2 = {.controls = {.burst = 1e9, .per_second = 0}}});
  for (int i = 0; i < 2000; ++i) {
    f.client.Ping();
    f.http.Receive(f.client.Take());
  }
  std::string out;
  while (!f.http.Done()) f.http.Produce(out, 4096);
  f.client.Give(out);
  EXPECT_EQ(f.client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
}

std::string Frame(size_t length, uint8_t type, uint8_t flags, uint32_t stream) {
  std::string head;
  head += static_cast<char>(length >> 16);
  head += static_cast<char>(length >> 8);
  head += static_cast<char>(length);
  head += static_cast<char>(type);
  head += static_cast<char>(flags);
  for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(stream >> shift);
  return head;
}

TEST(Http2, EndsAConnectionThatFloodsContinuations) {
  Http2Fixture f;
  f.Talk();
  // Literal fields without indexing, with name "a" and an empty value. The headers never end.
  const std::string field(
      "\x00\x01"
      "a\x00",
      4);
  f.http.Receive(Frame(field.size(), NGHTTP2_HEADERS, 0, 1) + field);
  for (int i = 0; i < 1000 && !f.http.Done(); ++i) {
    f.http.Receive(Frame(field.size(), NGHTTP2_CONTINUATION, 0, 1) + field);
    f.Talk();
  }
  EXPECT_TRUE(f.http.Done());
  EXPECT_THAT(f.stage.asked, IsEmpty());
}

TEST(Http2, EndsAConnectionWhoseHeadersUnpackWithoutEnd) {
  Http2Fixture f({.header_bytes = 10'000});
  f.Talk();
  // One long field is put into the table (literal with indexing) and then referred to many times.
  std::string block(
      "\x40\x01"
      "a\x7f\x81\x1e",
      6);  // Length 127 + 1 + 30 * 128 = 3968
  block += std::string(3968, 'v');
  block += std::string(2000, static_cast<char>(0xbe));
  f.http.Receive(Frame(block.size(), NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1) + block);
  f.Talk();
  EXPECT_TRUE(f.http.Done());
  EXPECT_EQ(f.client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(Http2, ClosesOnGarbage) {
  Http2Fixture f;
  f.http.Receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(f.http.Done());
}

// --- time ----------------------------------------------------------------------------------------

TEST(Http2, ClosesIdleConnectionsInGoodOrder) {
  Http2Fixture f;
  f.Echo();
  f.client.Ask("GET", "/");
  f.Talk();
  f.stage.Pass(f.http, f.stage.limits.idle - seconds(1));
  EXPECT_FALSE(f.http.Done());
  f.stage.Pass(f.http, seconds(1));
  f.Talk();
  EXPECT_EQ(f.client.goaway, NGHTTP2_NO_ERROR);
  EXPECT_TRUE(f.http.Done());
}

TEST(Http2, DoesNotTakeAWaitingStreamForIdle) {
  Http2Fixture f;
  f.StartStream();
  for (int i = 0; i < 100; ++i) {
    f.stage.Pass(f.http, seconds(60));
    f.Talk();
  }
  EXPECT_FALSE(f.client.goaway);
  EXPECT_FALSE(f.client.answer(f.last).closed);
}

TEST(Http2, GivesUpOnAClientThatSaysNothing) {
  Http2Fixture f;
  f.stage.Pass(f.http, f.stage.limits.header_read);
  f.stage.Drain(f.http);
  EXPECT_TRUE(f.http.Done());
  EXPECT_EQ(f.stage.counters.timeouts.Get(), 1U);
}

TEST(Http2, GivesUpOnABodyThatTrickles) {
  Http2Fixture f;
  const int32_t slow = f.client.Ask("POST", "/", "a", {}, true);
  const int32_t steady = f.client.Ask("POST", "/", "a", {}, true);
  f.Talk();
  for (int i = 0; i < 30; ++i) {
    f.client.More(slow, "a");
    f.client.More(steady, std::string(1000, 'a'));
    f.Talk();
    f.stage.Pass(f.http, seconds(1));
    f.Talk();
  }
  EXPECT_EQ(f.client.Status(slow), "408");
  EXPECT_EQ(f.client.Status(steady), "");
}

TEST(Http2, ResetsAnAnswerThatNobodyTakes) {
  Http2Fixture f({}, 1000, false);
  f.stage.handler = [&f](uint32_t stream, const Request&) {
    f.http.Finish(stream, {.body = std::string(5000, 'x')});
  };
  const int32_t id = f.client.Ask("GET", "/");
  f.Talk();
  for (int i = 0; i < 20; ++i) {
    f.stage.Pass(f.http, seconds(5));
    f.Talk();
  }
  EXPECT_EQ(f.client.answer(id).closed, NGHTTP2_CANCEL);
  EXPECT_EQ(f.stage.counters.timeouts.Get(), 1U);
}

}  // namespace
}  // namespace berth::http
