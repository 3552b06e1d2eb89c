#include "ui/assets.h"

#include <gtest/gtest.h>

#include <array>

#include "ui/answers.h"

namespace berth::ui {
namespace {

class AssetsTest : public testing::Test {
 protected:
  http::Response Get(const char* encodings, const char* tag = nullptr) const {
    http::Request request{.method = "GET", .path = "/app.js"};
    request.headers.Add("accept-encoding", encodings);
    if (tag != nullptr) request.headers.Add("if-none-match", tag);
    return assets_.Answer(request);
  }

  static constexpr std::array<Asset, 1> kFiles = {{{.path = "/app.js",
                                                    .content_type = "text/javascript",
                                                    .hash = "1f",
                                                    .identity = "plain",
                                                    .gzip = "gz",
                                                    .brotli = "br"}}};
  const Assets assets_{kFiles};
};

TEST_F(AssetsTest, TheSmallestFormThatIsAccepted) {
  const std::array<std::array<const char*, 3>, 8> cases = {{{"", "plain", ""},
                                                            {"gzip, deflate, br", "br", "br"},
                                                            {"gzip", "gz", "gzip"},
                                                            {"br;q=0, gzip", "gz", "gzip"},
                                                            {"br;q=0.0,gzip;q=0", "plain", ""},
                                                            {"BR;q=0.5", "br", "br"},
                                                            {"identity", "plain", ""},
                                                            {"brx, xbr", "plain", ""}}};
  for (const auto& [accepts, body, encoding] : cases) {
    const http::Response answer = Get(accepts);
    EXPECT_EQ(answer.body.Flatten(), body) << accepts;
    EXPECT_EQ(answer.headers.Find("content-encoding").value_or(""), encoding) << accepts;
    EXPECT_EQ(answer.headers.Find("vary"), "Accept-Encoding");
    EXPECT_EQ(answer.headers.Find("cache-control"), "no-cache");
  }
}

TEST_F(AssetsTest, EachFormHasATagOfItsOwn) {
  EXPECT_EQ(Get("").headers.Find("etag"), "\"1f\"");
  EXPECT_EQ(Get("br").headers.Find("etag"), "\"1f-br\"");
  for (const char* tag : {"\"1f-br\"", "W/\"1f-br\"", "\"x\", \"1f-br\"", "*"}) {
    const http::Response answer = Get("br", tag);
    EXPECT_EQ(answer.code, 304) << tag;
    EXPECT_TRUE(answer.body.empty());
    EXPECT_EQ(answer.headers.Find("etag"), "\"1f-br\"");
  }
  for (const char* tag : {"\"1f\"", "1f-br", "", "\"1f-b", "\"\""}) {
    EXPECT_EQ(Get("br", tag).code, 200) << tag;
  }
}

TEST_F(AssetsTest, OnlyExactPaths) {
  for (const char* path : {"/app.js/", "//app.js", "/App.js", "/app%2ejs", "/./app.js", "app.js"}) {
    EXPECT_FALSE(assets_.Has(path)) << path;
  }
}

TEST(AnswersTest, EveryAnswerIsSecured) {
  const http::Response answer = Secured(ErrorAnswer(404, "a \"<script>\""));
  EXPECT_EQ(answer.headers.Find("x-content-type-options"), "nosniff");
  const std::string policy(answer.headers.Find("content-security-policy").value_or(""));
  EXPECT_TRUE(policy.starts_with("default-src 'none'; ")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(answer.body.Flatten(), "{\"code\":404,\"message\":\"a \\\"<script>\\\"\"}\n");
}

TEST(AnswersTest, PagesEscapeTheirTexts) {
  const std::string page =
      PageAnswer({.title = "<b>&\"", .paragraphs = {"<script>"}}).body.Flatten();
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;&amp;&quot;"), std::string::npos);
}

}  // namespace
}  // namespace berth::ui
