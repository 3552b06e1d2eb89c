#include "ui/event_hub.h"

#include <gtest/gtest.h>

namespace berth::ui {
namespace {

using http::Pulled;

constexpr size_t kRoom = 1 << 16;

class EventHubTest : public testing::Test {
 protected:
  std::unique_ptr<http::Source> Open(const std::string& owner = "") {
    return *hub_.Open(owner, [this] { return open_; });
  }
  /// Returns what a stream sends now.
  static std::string Sent(http::Source& source, Pulled then = Pulled::kWait) {
    http::Pieces out;
    EXPECT_EQ(source.Pull(out, kRoom), then);
    return out.Flatten();
  }

  base::ManualClock clock_;
  bool open_ = true;
  EventHub hub_{clock_, {.streams = 4, .streams_of_owner = 3}};
};

TEST(EventTextTest, HasALineOfDataForEachLine) {
  EXPECT_EQ(EventText("view", "{}"), "event: view\ndata: {}\n\n");
  EXPECT_EQ(EventText("a", "x\ny\r\nz"), "event: a\ndata: x\ndata: y\ndata: \ndata: z\n\n");
}

TEST_F(EventHubTest, TheNewestViewComesFirst) {
  hub_.PublishView(6, "step 6;", "whole 6;");
  hub_.PublishView(7, "step 7;", "whole 7;");
  const auto stream = Open();
  EXPECT_EQ(Sent(*stream), "retry: 1000\n\nwhole 7;");
  EXPECT_EQ(Sent(*stream), "");
  hub_.PublishView(8, "step 8;", "whole 8;");
  EXPECT_EQ(Sent(*stream), "step 8;");
}

TEST_F(EventHubTest, AStreamMayBeginBeforeTheFirstView) {
  const auto stream = Open();
  EXPECT_EQ(Sent(*stream), "retry: 1000\n\n");
  hub_.PublishView(1, "step 1;", "whole 1;");
  EXPECT_EQ(Sent(*stream), "step 1;");
}

TEST_F(EventHubTest, ASlowClientGetsTheNewestViewAlone) {
  const auto stream = Open();
  hub_.PublishView(1, "step 1;", "whole 1;");
  Sent(*stream);
  for (int i = 2; i <= 1000; ++i) hub_.PublishView(static_cast<uint64_t>(i), "step;", "whole;");
  EXPECT_EQ(Sent(*stream), "whole;");
  EXPECT_EQ(Sent(*stream), "");
}

TEST_F(EventHubTest, TellsTroubleAndItsEnd) {
  hub_.PublishView(1, "step 1;", "whole 1;");
  const auto before = Open();
  Sent(*before);
  hub_.PublishState("trouble;", "trouble;");
  EXPECT_EQ(Sent(*before), "trouble;");
  const auto during = Open();
  EXPECT_EQ(Sent(*during), "retry: 1000\n\nwhole 1;trouble;");
  hub_.PublishState("", "well;");
  EXPECT_EQ(Sent(*before), "well;");
  EXPECT_EQ(Sent(*during), "well;");
  // There is nothing to tell to a client that did not see the trouble.
  EXPECT_EQ(Sent(*Open()), "retry: 1000\n\nwhole 1;");
}

TEST_F(EventHubTest, ACommentComesInSilence) {
  const auto stream = Open();
  Sent(*stream);
  clock_.Advance(std::chrono::seconds(14));
  EXPECT_EQ(Sent(*stream), "");
  EXPECT_EQ(*stream->wake_at(), clock_.Steady() + std::chrono::seconds(1));
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Sent(*stream), ":\n\n");
  EXPECT_EQ(Sent(*stream), "");
}

TEST_F(EventHubTest, SaysByeWhenTheServerEnds) {
  const auto stream = Open();
  Sent(*stream);
  stream->OnDrain();
  EXPECT_EQ(Sent(*stream, Pulled::kEnd), "event: bye\ndata: {}\n\n");
}

TEST_F(EventHubTest, EndsWithTheRight) {
  const auto stream = Open();
  Sent(*stream);
  hub_.PublishView(1, "step 1;", "whole 1;");
  open_ = false;
  EXPECT_EQ(Sent(*stream, Pulled::kEnd), "");
}

TEST_F(EventHubTest, StreamsAreCounted) {
  auto first = Open("jane");
  const auto second = Open("jane");
  const auto third = Open("jane");
  EXPECT_EQ(hub_.Open("jane", [] { return true; }).error().reason, base::Reason::kTooManyRequests);
  const auto fourth = Open("joe");
  EXPECT_EQ(hub_.Open("mary", [] { return true; }).error().reason, base::Reason::kTooManyRequests);
  first.reset();
  EXPECT_EQ(hub_.streams(), 3U);
  EXPECT_TRUE(hub_.Open("mary", [] { return true; }).has_value());
}

}  // namespace
}  // namespace berth::ui
