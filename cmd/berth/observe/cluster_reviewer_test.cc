#include "berth/observe/cluster_reviewer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"
#include "http/server.h"

namespace berth::cli {
namespace {

using base::Reason;
using testing::ElementsAre;

/// A cluster that answers reviews as it is told.
class ReviewingCluster {
 public:
  ReviewingCluster() { EXPECT_TRUE(server_.Start().has_value()); }

  kube::Access Access() const {
    kube::Access access{.url = "http://cluster", .origin = "a test"};
    access.client.port = server_.port();
    return access;
  }

  std::string token_status = R"({"authenticated":true,"user":{"username":"jane","uid":"u1",)"
                             R"("groups":["ops"],"extra":{"zone":["a"]}}})";
  std::string access_status = R"({"allowed":true})";
  int code = 201;
  std::vector<std::string> asked;

 private:
  void Answer(const http::Request& request, const http::Responder& responder) {
    asked.push_back(request.method + " " + request.path + " " + request.body);
    const bool token = request.path == "/apis/authentication.k8s.io/v1/tokenreviews";
    responder.Finish({.code = code,
                      .headers = {{"content-type", "application/json"}},
                      .body = R"({"status":)" + (token ? token_status : access_status) + "}"});
  }

  const base::SystemClock clock_;
  base::Logger log_{{}, clock_};
  http::Server server_{{.addresses = {"127.0.0.1"}, .port = 0, .io_threads = 1},
                       [this](const http::Request& request, const http::Responder& responder) {
                         Answer(request, responder);
                       },
                       log_,
                       clock_};
};

TEST(ClusterReviewer, AsksAboutTheUserOfTheToken) {
  ReviewingCluster cluster;
  ClusterReviewer reviewer(cluster.Access());
  EXPECT_EQ(reviewer.MayRead("secret", "/metrics").value(), true);
  EXPECT_THAT(
      cluster.asked,
      ElementsAre(R"(POST /apis/authentication.k8s.io/v1/tokenreviews {"apiVersion":)"
                  R"("authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"secret"}})",
                  R"(POST /apis/authorization.k8s.io/v1/subjectaccessreviews {"apiVersion":)"
                  R"("authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"jane",)"
                  R"("nonResourceAttributes":{"path":"/metrics","verb":"get"},"uid":"u1",)"
                  R"("groups":["ops"],"extra":{"zone":["a"]}}})"));
}

TEST(ClusterReviewer, RefusesWhatTheClusterDoesNotAllow) {
  ReviewingCluster cluster;
  ClusterReviewer reviewer(cluster.Access());
  for (const char* status : {R"({"allowed":false})", R"({"allowed":true,"denied":true})", "{}"}) {
    cluster.access_status = status;
    EXPECT_EQ(reviewer.MayRead("secret", "/metrics").value(), false) << status;
  }
  for (const char* status : {R"({"authenticated":false,"user":{"username":"jane"}})", "{}",
                             R"({"authenticated":true,"user":{}})"}) {
    cluster.token_status = status;
    EXPECT_EQ(reviewer.MayRead("secret", "/metrics").error().reason, Reason::kUnauthorized);
  }
}

TEST(ClusterReviewer, TheObserversOwnMissingRightsAreNotTheClientsFault) {
  ReviewingCluster cluster;
  ClusterReviewer reviewer(cluster.Access());
  for (const int code : {401, 403, 500}) {
    cluster.code = code;
    const auto may = reviewer.MayRead("secret", "/metrics");
    ASSERT_FALSE(may.has_value());
    EXPECT_NE(may.error().reason, Reason::kUnauthorized) << code;
  }
  cluster.code = 200;
  cluster.token_status = "rubbish";
  EXPECT_FALSE(reviewer.MayRead("secret", "/metrics").has_value());
}

}  // namespace
}  // namespace berth::cli
