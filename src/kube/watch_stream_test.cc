#include "kube/watch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kinds.h"
#include "codec/list_read.h"
#include "codec/read.h"

namespace berth::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Type = ServerEvent::Type;

constexpr std::string_view kLines =
    R"({"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"}}}
{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"6"}}}

{"type":"BOOKMARK","object":{"kind":"Service","metadata":{"resourceVersion":"9"},"spec":{}}}
{"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"10"}}}
)";

TEST(WatchStream, FindsEventsInPartsOfAnySize) {
  for (size_t size = 1; size <= kLines.size(); size += size < 20 ? 1 : 37) {
    WatchStream stream(api::kServiceKind.message);
    std::vector<std::string> revisions;
    std::vector<Type> types;
    for (size_t at = 0; at < kLines.size(); at += size) {
      const auto fed = stream.Feed(kLines.substr(at, size), [&](const ServerEvent& event) {
        revisions.push_back(event.revision);
        types.push_back(event.type);
        return true;
      });
      ASSERT_TRUE(fed.has_value()) << fed.error().message;
    }
    EXPECT_THAT(revisions, ElementsAre("5", "6", "9", "10")) << size;
    EXPECT_THAT(types, ElementsAre(Type::kAdded, Type::kModified, Type::kBookmark, Type::kDeleted));
    EXPECT_FALSE(stream.InLine());
  }
}

TEST(WatchStream, ReadsErrors) {
  const auto event = ReadServerEvent(
      R"x({"type":"ERROR","object":{"kind":"Status","message":"too old: 1 (34740)",)x"
      R"x("reason":"Expired","code":410}})x",
      api::kServiceKind.message);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->type, Type::kError);
  EXPECT_EQ(event->status.code, 410);
  EXPECT_EQ(event->status.reason, base::Reason::kExpired);
  EXPECT_EQ(event->status.message, "too old: 1 (34740)");
}

TEST(WatchStream, RefusesWhatIsNoEvent) {
  const auto error = [](std::string_view line) {
    return ReadServerEvent(line, api::kServiceKind.message).error().message;
  };
  EXPECT_THAT(error("<html>"), HasSubstr("not an event of a watch"));
  EXPECT_THAT(error(R"({"type":"NEW","object":{}})"), HasSubstr("no known type"));
  EXPECT_THAT(error(R"({"type":"ADDED"})"), HasSubstr("no object"));
  EXPECT_THAT(error(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})"),
              HasSubstr("no resourceVersion"));
  EXPECT_THAT(error(R"({"type":"ADDED","object":{"metadata":{"name":3}}})"),
              HasSubstr("not an event of a watch"));
  WatchStream stream(nullptr);
  const std::string part(1 << 20, 'x');
  base::Result<bool> fed = true;
  for (size_t taken = 0; fed && taken <= codec::kLargestItem; taken += part.size()) {
    fed = stream.Feed(part, [](const auto&) { return true; });
  }
  ASSERT_FALSE(fed.has_value()) << "a line without an end costs bounded memory";
  EXPECT_THAT(fed.error().message, HasSubstr("too long"));
}

}  // namespace
}  // namespace berth::kube
