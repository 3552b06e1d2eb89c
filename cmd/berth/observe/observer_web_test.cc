#include "berth/observe/observer_web.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <string>

#include "base/temp_dir.h"
#include "berth/observe/listen_address.h"
#include "observe/observer_metrics.h"

namespace berth::cli {
namespace {

using observe::WatchedKind;
using std::chrono::seconds;
using testing::HasSubstr;

/// Gives the one answer that it gets to a test.
class OneAnswer final : public http::AnswerSink {
 public:
  void Finish(http::StreamKey /*key*/, http::Response response) override {
    answer_.set_value(std::move(response));
  }
  void Stream(http::StreamKey /*key*/, http::Response /*head*/,
              std::unique_ptr<http::Source> /*source*/) override {}

  http::Response Wait() { return answer_.get_future().get(); }

 private:
  std::promise<http::Response> answer_;
};

class FakeReviewer final : public Reviewer {
 public:
  base::Result<bool> MayRead(const std::string& token, const std::string& path) override {
    ++asked;
    if (down) return base::Fail(base::Reason::kServiceUnavailable, "connection refused");
    return token == "good" && path == "/metrics";
  }
  int asked = 0;
  bool down = false;
};

class ObserverWebTest : public testing::Test {
 protected:
  ObserverWebTest() {
    history_ = history::History::Open({.directory = dir_.Path()}, clock_, log_).value();
    observer_.emplace(observe::ClusterOutline{}, *history_, clock_);
    observe::AddObserverMetrics(*observer_, clock_, metrics_);
  }

  void Serve(Reviewer* reviewer = nullptr) {
    web_.emplace(ObserverWeb::Parts{.observer = *observer_,
                                    .metrics = metrics_,
                                    .clock = clock_,
                                    .reviewer = reviewer,
                                    .max_lag = seconds(60)});
  }

  /// Returns the code and the body.
  std::pair<int, std::string> Get(const std::string& path, const std::string& token = {},
                                  const std::string& query = {}) {
    http::Request request{.method = "GET", .path = path, .query = query};
    if (!token.empty()) request.headers.Add("authorization", "Bearer " + token);
    const auto sink = std::make_shared<OneAnswer>();
    web_->Handle(request, http::Responder(sink, {}, /*accepts_gzip=*/false));
    const http::Response answer = sink->Wait();
    return {answer.code, answer.body.Flatten()};
  }

  const base::TempDir dir_{base::TempDir::Medium::kMemory};
  base::ManualClock clock_;
  base::Logger log_{{}, clock_};
  std::unique_ptr<history::History> history_;
  std::optional<observe::Observer> observer_;
  obs::Metrics metrics_;
  std::optional<ObserverWeb> web_;
};

TEST_F(ObserverWebTest, IsReadyWhenListedAndNotLate) {
  Serve();
  EXPECT_EQ(Get("/livez").first, 200);
  auto [code, text] = Get("/readyz");
  EXPECT_EQ(code, 500);
  EXPECT_THAT(text, HasSubstr("services are not listed yet"));
  observer_->BeginList(WatchedKind::kServices);
  observer_->EndList(WatchedKind::kServices, 7);
  EXPECT_EQ(Get("/readyz"), std::pair(200, std::string("ok")));
  EXPECT_THAT(Get("/readyz", "", "verbose").second, HasSubstr("services: lag 0.0 s, revision 7"));
  clock_.Advance(seconds(61));
  EXPECT_THAT(Get("/readyz").second,
              HasSubstr("services were last seen 61 s ago, and the limit is 60 s"));
  EXPECT_EQ(Get("/livez").first, 200);
}

TEST_F(ObserverWebTest, TheClusterDecidesWhoMayRead) {
  FakeReviewer reviewer;
  CachingReviewer cache(reviewer, clock_);
  Serve(&cache);
  EXPECT_EQ(Get("/metrics").first, 401);
  EXPECT_EQ(Get("/livez").first, 200);
  EXPECT_EQ(Get("/metrics", "bad").first, 403);
  EXPECT_EQ(Get("/metrics", "good").first, 200);
  EXPECT_EQ(Get("/api/v1/top", "good").first, 403);
  EXPECT_EQ(reviewer.asked, 3);
  // Answers are kept for ten seconds, also while the cluster is away.
  reviewer.down = true;
  clock_.Advance(seconds(9));
  EXPECT_EQ(Get("/metrics", "good").first, 200);
  EXPECT_EQ(reviewer.asked, 3);
  clock_.Advance(seconds(1));
  const auto [code, text] = Get("/metrics", "good");
  EXPECT_EQ(code, 503);
  EXPECT_THAT(text, HasSubstr("connection refused"));
  EXPECT_EQ(reviewer.asked, 4);
}

TEST(CachingReviewerTest, ManyTokensDoNotFillTheMemory) {
  const base::ManualClock clock;
  FakeReviewer reviewer;
  CachingReviewer cache(reviewer, clock);
  for (int i = 0; i < 3000; ++i) EXPECT_FALSE(*cache.MayRead(std::to_string(i), "/metrics"));
  EXPECT_TRUE(*cache.MayRead("good", "/metrics"));
  EXPECT_TRUE(*cache.MayRead("good", "/metrics"));
  EXPECT_EQ(reviewer.asked, 3001);
}

TEST(ListenAddressTest, Loopback) {
  const auto loopback = [](const char* text) { return ParseListenAddress(text)->IsLoopback(); };
  EXPECT_TRUE(loopback("127.0.0.1:9464"));
  EXPECT_TRUE(loopback("127.1.2.3:0"));
  EXPECT_TRUE(loopback("[::1]:9464"));
  EXPECT_FALSE(loopback(":9464"));
  EXPECT_FALSE(loopback("0.0.0.0:9464"));
  EXPECT_FALSE(loopback("[::]:9464"));
  EXPECT_FALSE(loopback("10.0.0.1:9464"));
  EXPECT_EQ(ParseListenAddress("[::1]:9464")->port, 9464);
  for (const char* bad : {"", "9464", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "host:1",
                          "::1:9464", "[127.0.0.1]:1", "127.0.0.1:"}) {
    EXPECT_FALSE(ParseListenAddress(bad)) << bad;
  }
}

}  // namespace
}  // namespace berth::cli
