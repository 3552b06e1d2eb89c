#include "state/past.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "state/testing/test_store.h"

namespace berth::state {
namespace {

using testing::Body;
using ::testing::ElementsAre;
using testing::ServiceKey;
using testing::Stored;

class PastTest : public ::testing::Test {
 protected:
  PastTest() { store_.Open(); }

  void Put(const std::string& name, const std::string& value) {
    store_.Put(ServiceKey("n", name), value);
  }
  std::vector<std::string> Page(std::string after, int64_t revision, size_t limit) {
    std::vector<std::string> names;
    const Past past(*store_.engine, store_.resources);
    past.ReadPage("/registry/services/specs/", std::move(after), revision, limit,
                  [&](const base::Result<PastPage>& page) {
                    if (!page) return names.push_back(std::string(ReasonText(page.error().reason)));
                    for (const ObjectPtr& object : page->objects) {
                      names.push_back(std::string(object->Name()) + "=" + Body(*object));
                    }
                    if (page->more) names.push_back("more after " + page->last_key);
                  });
    return names;
  }

  testing::TestStore store_;
};

TEST_F(PastTest, TellsChangesWithTheStateBefore) {
  Put("a", Stored("1"));
  Put("a", Stored("2"));
  Put("bad", "garbage");
  Put("bad", Stored("1"));
  store_.Delete(ServiceKey("n", "a"));
  const Past past(*store_.engine, store_.resources);
  const auto changes = past.Changes("/registry/services/specs/", 1, 5);
  const base::Result<PastBatch> batch = changes->Read(100);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->progress, 5);
  ASSERT_EQ(batch->changes.size(), 3U);
  EXPECT_EQ(batch->changes[0].revision, 2);
  EXPECT_EQ(Body(*batch->changes[0].object), "2");
  EXPECT_EQ(Body(*batch->changes[0].previous), "1");
  EXPECT_EQ(batch->changes[1].previous, nullptr);
  EXPECT_EQ(batch->changes[2].object, nullptr);
  EXPECT_EQ(Body(*batch->changes[2].previous), "2");
  EXPECT_TRUE(changes->Read(100)->changes.empty());
}

TEST_F(PastTest, ReadsPagesOfAnEarlierState) {
  Put("a", Stored("1"));
  Put("b", "garbage");
  Put("c", Stored("1"));
  Put("a", Stored("2"));
  EXPECT_THAT(Page("", 3, 2), ElementsAre("a=1", "more after " + ServiceKey("n", "b")));
  EXPECT_THAT(Page(ServiceKey("n", "b"), 3, 2), ElementsAre("c=1"));
  ASSERT_TRUE(store_.Compact(4));
  EXPECT_THAT(Page("", 3, 2), ElementsAre("Expired"));
}

}  // namespace
}  // namespace berth::state
