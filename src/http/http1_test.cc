// Tests HTTP/1.1 without sockets. The test controls every byte and the time.
#include "http/http1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "http/testing/http_kit.h"

namespace berth::http {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Http1Fixture {
  explicit Http1Fixture(Limits limits = {}) : stage(limits), http(stage.env, stage, stage.peer) {}

  std::string Exchange(std::string_view bytes) {
    http.Receive(bytes);
    return stage.Drain(http);
  }
  void Echo() {
    stage.handler = [this](uint32_t stream, const Request& request) {
      http.Finish(stream, {.body = request.method + " " + request.path + " " + request.body});
    };
  }

  ProtocolStage stage;
  Http1 http;
};

constexpr std::string_view kGetA = "GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(Http1, ReadsARequestInOnePieceAndByteByByte) {
  for (const bool bytewise : {false, true}) {
    Http1Fixture f;
    const std::string text =
        "PUT /x/%20y?q=1&r HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-one: two \r\n"
        "Content-Length: 5\r\n\r\nhello";
    if (bytewise) {
      for (const char c : text) f.http.Receive({&c, 1});
    } else {
      f.http.Receive(text);
    }
    ASSERT_EQ(f.stage.asked.size(), 1U);
    const Request& request = f.stage.asked[0].request;
    EXPECT_EQ(request.method, "PUT");
    EXPECT_EQ(request.path, "/x/%20y");
    EXPECT_EQ(request.query, "q=1&r");
    EXPECT_EQ(request.body, "hello");
    EXPECT_GE(request.body.capacity(), request.body.size() + 64);
    EXPECT_EQ(request.protocol, 1);
    EXPECT_THAT(request.headers.FindAll("x-one"), ElementsAre("1", "two"));
  }
}

TEST(Http1, ReadsALongHeadThatComesInParts) {
  Http1Fixture f({.header_bytes = 1000, .request_line_bytes = 100});
  const std::string text = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(900, 'x') + "\r\n\r\n";
  for (const char c : text) f.http.Receive({&c, 1});
  EXPECT_EQ(f.stage.asked.size(), 1U);
}

TEST(Http1, AnswersInOnePiece) {
  Http1Fixture f;
  f.http.Receive(kGetA);
  f.http.Finish(f.stage.asked.at(0).stream,
                {.code = 201, .headers = {{"x-a", "b\r\nevil: 1"}, {"date", "no"}}, .body = "ok"});
  EXPECT_EQ(f.stage.Drain(f.http),
            "HTTP/1.1 201 Created\r\nX-A: b  evil: 1\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
            "Content-Length: 2\r\n\r\nok");
  EXPECT_FALSE(f.http.Done());
}

TEST(Http1, KeepsTheConnectionUnlessToldOtherwise) {
  Http1Fixture f;
  f.Echo();
  EXPECT_THAT(f.Exchange(kGetA), EndsWith("GET /a "));
  EXPECT_THAT(f.Exchange(kGetA), EndsWith("GET /a "));
  EXPECT_FALSE(f.http.Done());
  EXPECT_THAT(f.Exchange("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(f.http.Done());
}

TEST(Http1, AnswersRequestsSentAheadInOrder) {
  Http1Fixture f;
  std::string many;
  for (int i = 0; i < 3; ++i) many += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  f.http.Receive(many);
  ASSERT_EQ(f.stage.asked.size(), 1U) << "one at a time";
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(f.stage.asked.size(), i + 1);
    f.http.Finish(f.stage.asked[i].stream, {.body = f.stage.asked[i].request.path});
    EXPECT_THAT(f.stage.Drain(f.http), EndsWith("/" + std::to_string(i)));
  }
}

TEST(Http1, StopsReadingWhenTooMuchIsSentAhead) {
  Http1Fixture f;
  f.http.Receive(kGetA);
  EXPECT_TRUE(f.http.WantsInput());
  f.http.Receive(std::string(20'000, 'x'));
  EXPECT_FALSE(f.http.WantsInput());
}

TEST(Http1, ReadsChunkedBodiesAndForgetsTrailers) {
  Http1Fixture f;
  const std::string text =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=value\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: t\r\n\r\n";
  for (const char c : text) f.http.Receive({&c, 1});
  ASSERT_EQ(f.stage.asked.size(), 1U);
  EXPECT_EQ(f.stage.asked[0].request.body, "hello!");
  EXPECT_FALSE(f.stage.asked[0].request.headers.Find("x-trailer"));
}

TEST(Http1, SaysContinueWhenAskedTo) {
  Http1Fixture f;
  f.Echo();
  EXPECT_EQ(f.Exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                       "Expect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(f.Exchange("ab"), EndsWith("POST / ab"));
  EXPECT_THAT(f.Exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: tea\r\n\r\n"),
              StartsWith("HTTP/1.1 417 "));
}

TEST(Http1, RefusesALargeBodyInsteadOfContinue) {
  Http1Fixture f({.body_bytes = 10});
  EXPECT_THAT(f.Exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n"
                         "Expect: 100-continue\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_TRUE(f.http.Done());
}

TEST(Http1, AnswersHeadWithoutABody) {
  Http1Fixture f;
  f.Echo();
  const std::string answer = f.Exchange("HEAD /abc HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
  EXPECT_THAT(f.Exchange(kGetA), EndsWith("GET /a "));
}

TEST(Http1, SendsNoBodyWhereNoneMayBe) {
  for (const int code : {204, 304}) {
    Http1Fixture f;
    f.http.Receive(kGetA);
    f.http.Finish(1, {.code = code, .body = "x"});
    const std::string answer = f.stage.Drain(f.http);
    EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Content-Length")));
  }
}

TEST(Http1, CountsOneAnswerOnly) {
  Http1Fixture f;
  f.http.Receive(kGetA);
  f.http.Finish(1, {.body = "first"});
  f.http.Finish(1, {.body = "second"});
  EXPECT_THAT(f.stage.Drain(f.http), EndsWith("first"));
  f.http.Receive(kGetA);
  f.http.Finish(1, {.body = "late answer to the first"});
  EXPECT_THAT(f.stage.Drain(f.http), IsEmpty());
  f.http.Finish(2, {.body = "right"});
  EXPECT_THAT(f.stage.Drain(f.http), EndsWith("right"));
}

struct Bad {
  std::string name;
  std::string text;
  int code = 400;
};

class Http1Bad : public testing::TestWithParam<Bad> {};

TEST_P(Http1Bad, IsRefusedAndClosed) {
  Http1Fixture f(
      {.header_bytes = 1000, .header_count = 10, .request_line_bytes = 100, .body_bytes = 50});
  const std::string answer = f.Exchange(GetParam().text);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(GetParam().code) + " ")) << answer;
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(f.stage.asked, IsEmpty());
  EXPECT_TRUE(f.http.Done());
  EXPECT_EQ(f.stage.counters.requests_bad.Get(), 1U);
}

std::string Post(const std::string& more) { return "POST / HTTP/1.1\r\nHost: h\r\n" + more; }
std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    All, Http1Bad,
    testing::Values(
        Bad{"Garbage", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)},
        Bad{"NoHost", "GET / HTTP/1.1\r\n\r\n"},
        Bad{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        Bad{"Version", "GET / HTTP/1.9\r\nHost: h\r\n\r\n", 505},
        Bad{"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        Bad{"Target", "GET a/b HTTP/1.1\r\nHost: h\r\n\r\n"},
        Bad{"Connect", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n"},
        Bad{"LongTarget", "GET /" + std::string(101, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", 414},
        Bad{"EndlessTarget", "GET /" + std::string(101, 'a'), 414},
        Bad{"LongHeader", "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(1000, 'a') + "\r\n\r\n",
            431},
        Bad{"EndlessHeader", "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(1200, 'a'), 431},
        Bad{"ManyHeaders", "GET / HTTP/1.1\r\nHost: h\r\n" + Repeat("X: a\r\n", 10) + "\r\n", 431},
        Bad{"EndlessHeaders", "GET / HTTP/1.1\r\nHost: h\r\n" + Repeat("X: a\r\n", 12), 431},
        Bad{"BodyOneOver", Post("Content-Length: 51\r\n\r\n"), 413},
        Bad{"ChunkOneOver",
            Post("Transfer-Encoding: chunked\r\n\r\n32\r\n" + std::string(50, 'a') + "\r\n1\r\n"),
            413},
        Bad{"LengthAndChunked",
            Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
        Bad{"ChunkedAndLength",
            Post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")},
        Bad{"TwoLengths", Post("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")},
        Bad{"NegativeLength", Post("Content-Length: -1\r\n\r\n")},
        Bad{"HugeLength", Post("Content-Length: 99999999999999999999\r\n\r\n")},
        Bad{"OtherCoding", Post("Transfer-Encoding: gzip\r\n\r\n"), 501},
        Bad{"TwoCodings", Post("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501},
        Bad{"BadChunk", Post("Transfer-Encoding: chunked\r\n\r\nzz\r\n")},
        Bad{"HugeChunk", Post("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n")},
        Bad{"SpaceInName", "GET / HTTP/1.1\r\nHost : h\r\n\r\n"},
        Bad{"NulInValue", std::string("GET / HTTP/1.1\r\nHost: h\0x\r\n\r\n", 29)},
        Bad{"OldAndChunked", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}),
    [](const auto& bad) { return bad.param.name; });

TEST(Http1, TakesABodyOfExactlyTheLimit) {
  Http1Fixture f({.body_bytes = 50});
  f.http.Receive(Post("Content-Length: 50\r\n\r\n" + std::string(50, 'a')));
  ASSERT_EQ(f.stage.asked.size(), 1U);
  EXPECT_EQ(f.stage.asked[0].request.body.size(), 50U);
}

TEST(Http1, RefusesChunksThatAreAllHeader) {
  Http1Fixture f;
  f.http.Receive(Post("Transfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = "1;" + std::string(1000, 'x') + "\r\na\r\n";
  for (int i = 0; i < 1000 && f.stage.errors.empty(); ++i) f.http.Receive(chunk);
  EXPECT_THAT(f.stage.errors, ElementsAre(400));
  Http1Fixture endless;
  endless.http.Receive(Post("Transfer-Encoding: chunked\r\n\r\n1;"));
  endless.http.Receive(std::string(20'000, 'x'));
  EXPECT_THAT(endless.stage.errors, ElementsAre(400));
}

TEST(Http1, SharesTheMemoryForAnswersThatNobodyTakes) {
  Http1Fixture f({.answer_memory = 300'000});
  const std::string bulk(200'000, 'b');
  const auto ask = [&] {
    f.http.Receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    return f.stage.asked.back().stream;
  };
  f.http.Finish(ask(), {.body = bulk, .bulk = true});
  EXPECT_FALSE(f.stage.answers.Take(200'000)) << "not yet taken";
  f.stage.Drain(f.http);
  EXPECT_TRUE(f.stage.answers.Take(200'000)) << "given back";
  f.http.Finish(ask(), {.body = bulk, .bulk = true});
  EXPECT_THAT(f.stage.Drain(f.http), StartsWith("HTTP/1.1 503"));
  f.http.Finish(ask(), {.body = bulk});
  EXPECT_THAT(f.stage.Drain(f.http), StartsWith("HTTP/1.1 200")) << "a write was done";
}

TEST(Http1, SharesTheMemoryForBodies) {
  Http1Fixture f({.body_memory = 100});
  f.http.Receive(Post("Content-Length: 1000\r\n\r\n"));
  f.http.Receive(std::string(90, 'a'));
  EXPECT_FALSE(f.stage.bodies.Take(11));
  f.http.Receive(std::string(20, 'a'));
  EXPECT_THAT(f.stage.errors, ElementsAre(503));
  EXPECT_TRUE(f.stage.bodies.Take(100)) << "given back";
}

TEST(Http1, ClosesAfterHttp10) {
  Http1Fixture f;
  f.Echo();
  EXPECT_THAT(f.Exchange("GET /old HTTP/1.0\r\n\r\n"), EndsWith("GET /old "));
  EXPECT_TRUE(f.http.Done());
}

TEST(Http1, TakesAbsoluteTargets) {
  Http1Fixture f;
  f.http.Receive("GET http://other/p?q HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(f.stage.asked.at(0).request.path, "/p");
  EXPECT_EQ(f.stage.asked.at(0).request.query, "q");
}

// --- streams -------------------------------------------------------------------------------------

std::shared_ptr<ScriptSource::Script> StartStream(Http1Fixture& f,
                                                  std::string_view request = kGetA) {
  auto script = std::make_shared<ScriptSource::Script>();
  f.http.Receive(request);
  f.http.Stream(f.stage.asked.back().stream, {.headers = {{"x", "y"}}},
                std::make_unique<ScriptSource>(script));
  return script;
}

TEST(Http1, StreamsInChunks) {
  Http1Fixture f;
  const auto script = StartStream(f);
  script->text = "one";
  EXPECT_THAT(f.stage.Drain(f.http), EndsWith("Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n"));
  EXPECT_EQ(f.stage.counters.streams_now.Get(), 1U);
  const int pulls = script->pulls;
  EXPECT_EQ(f.stage.Drain(f.http), "");
  EXPECT_EQ(script->pulls, pulls) << "a stream that waits is left alone";

  script->text = "two, and a bit more";
  script->signal.Notify();
  f.stage.env.mailbox->RunAll();
  EXPECT_EQ(f.stage.Drain(f.http), "13\r\ntwo, and a bit more\r\n");

  script->text = "end";
  script->then = Pulled::kEnd;
  script->signal.Notify();
  f.stage.env.mailbox->RunAll();
  EXPECT_EQ(f.stage.Drain(f.http), "3\r\nend\r\n0\r\n\r\n");
  EXPECT_TRUE(script->gone);
  EXPECT_EQ(f.stage.counters.streams_now.Get(), 0U);
  EXPECT_FALSE(f.http.Done());
  f.Echo();
  EXPECT_THAT(f.Exchange(kGetA), EndsWith("GET /a ")) << "the connection goes on";
}

TEST(Http1, PullsAgainAtTheTimeTheSourceNames) {
  Http1Fixture f;
  const auto script = StartStream(f);
  script->wake_at = f.stage.clock.Steady() + seconds(5);
  f.stage.Drain(f.http);
  EXPECT_EQ(f.http.Deadline(), script->wake_at);
  script->text = "bookmark";
  f.stage.Pass(f.http, seconds(4));
  EXPECT_EQ(f.stage.Drain(f.http), "");
  f.stage.Pass(f.http, seconds(1));
  EXPECT_THAT(f.stage.Drain(f.http), HasSubstr("bookmark"));
}

TEST(Http1, BreaksOffAnAbortedStream) {
  Http1Fixture f;
  const auto script = StartStream(f);
  script->then = Pulled::kAbort;
  EXPECT_THAT(f.stage.Drain(f.http), Not(HasSubstr("0\r\n\r\n")));
  EXPECT_TRUE(f.http.Done());
  EXPECT_TRUE(script->gone);
}

TEST(Http1, EndsAStreamWhenTheClientIsGone) {
  Http1Fixture f;
  const auto script = StartStream(f);
  f.stage.Drain(f.http);
  f.http.ReceiveEnd();
  EXPECT_TRUE(f.http.Done());
  EXPECT_TRUE(script->gone);
}

TEST(Http1, FinishesAnOrdinaryAnswerForAClientThatClosedItsHalf) {
  Http1Fixture f;
  f.http.Receive(kGetA);
  f.http.ReceiveEnd();
  EXPECT_FALSE(f.http.Done());
  f.http.Finish(1, {.body = "still"});
  EXPECT_THAT(f.stage.Drain(f.http), EndsWith("still"));
  EXPECT_TRUE(f.http.Done());
}

TEST(Http1, StreamsToHttp10UntilTheClose) {
  Http1Fixture f;
  const auto script = StartStream(f, "GET / HTTP/1.0\r\n\r\n");
  script->text = "raw";
  script->then = Pulled::kEnd;
  const std::string answer = f.stage.Drain(f.http);
  EXPECT_THAT(answer, EndsWith("\r\n\r\nraw"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_TRUE(f.http.Done());
}

// --- draining and time ---------------------------------------------------------------------------

TEST(Http1, DrainsWhenIdleAtOnceAndOtherwiseAfterTheAnswer) {
  Http1Fixture idle;
  idle.http.Drain();
  EXPECT_TRUE(idle.http.Done());

  Http1Fixture busy;
  busy.http.Receive(kGetA);
  busy.http.Drain();
  EXPECT_FALSE(busy.http.Done());
  busy.http.Finish(1, {.body = "last"});
  const std::string answer = busy.stage.Drain(busy.http);
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("last"));
  EXPECT_TRUE(busy.http.Done());

  Http1Fixture streaming;
  const auto script = StartStream(streaming);
  streaming.stage.Drain(streaming.http);
  streaming.http.Drain();
  EXPECT_EQ(streaming.stage.Drain(streaming.http), "0\r\n\r\n");
  EXPECT_TRUE(streaming.http.Done());
}

TEST(Http1, ClosesIdleConnections) {
  Http1Fixture f;
  f.Echo();
  f.Exchange(kGetA);
  f.stage.Pass(f.http, f.stage.limits.idle - seconds(1));
  EXPECT_FALSE(f.http.Done());
  f.stage.Pass(f.http, seconds(1));
  EXPECT_TRUE(f.http.Done());
  EXPECT_EQ(f.stage.counters.timeouts.Get(), 0U);
}

TEST(Http1, GivesUpOnAHeadThatTrickles) {
  Http1Fixture f;
  f.http.Receive("GET / HTTP/1.1\r\nX: ");
  for (int i = 0; i < 11 && f.stage.errors.empty(); ++i) {
    f.http.Receive("a");
    f.stage.Pass(f.http, seconds(1));
  }
  EXPECT_THAT(f.stage.errors, ElementsAre(408));
  EXPECT_THAT(f.stage.Drain(f.http), StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(f.http.Done());
}

TEST(Http1, GivesUpOnABodyThatTricklesButNotOnALongOne) {
  Http1Fixture slow;
  slow.http.Receive(Post("Content-Length: 100000\r\n\r\n"));
  for (int i = 0; i < 20 && slow.stage.errors.empty(); ++i) {
    slow.http.Receive("a");
    slow.stage.Pass(slow.http, seconds(1));
  }
  EXPECT_THAT(slow.stage.errors, ElementsAre(408));
  EXPECT_EQ(slow.stage.counters.timeouts.Get(), 1U);

  Http1Fixture steady;
  steady.http.Receive(Post("Content-Length: 100000\r\n\r\n"));
  for (int i = 0; i < 100; ++i) {
    steady.http.Receive(std::string(1000, 'a'));
    steady.stage.Pass(steady.http, seconds(1));
  }
  EXPECT_EQ(steady.stage.asked.size(), 1U);
}

TEST(Http1, DoesNotHurryTheHandler) {
  Http1Fixture f;
  f.http.Receive(kGetA);
  EXPECT_EQ(f.http.Deadline(), std::nullopt);
}

}  // namespace
}  // namespace berth::http
