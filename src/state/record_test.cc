// Tests of objects that are split. They show the same as other objects and take much less memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <string>
#include <vector>

#include "state/object.h"
#include "state/shared_text.h"
#include "state/testing/objects.h"

namespace berth::state {
namespace {

using testing::Record;

struct Extras {
  std::string protobuf = {};
  std::string hidden = {};
};

ObjectPtr MakeRecord(const Record& record, bool marked, const Extras& extras = {}) {
  static const Resources resources = testing::MakeResources();
  WireText wire = testing::RecordWire(record);
  if (marked) testing::MarkRecord(wire);
  wire.protobuf = extras.protobuf;
  wire.hidden = extras.hidden;
  const std::string key = std::string("/registry/namespaces/").append(record.name);
  return Object::Make(*resources.Find(key), 42, wire);
}

/// Returns everything that can be read from an object.
std::vector<std::string> Views(const Object& object) {
  std::vector<std::string> views(4);
  object.AppendJson(views[0]);
  object.AppendJson(views[1], 0);
  object.AppendJson(views[2], 123'456'789);
  object.AppendListItem(views[3]);
  std::string room = "what was there before";
  views.emplace_back(object.TextWithoutManagedFields(room));
  views.emplace_back(object.Protobuf());
  views.emplace_back(object.Hidden());
  views.emplace_back(object.Name());
  views.emplace_back(object.Key());
  views.push_back(std::to_string(object.JsonSize()));
  return views;
}

TEST(RecordTest, ShowsWhatAnyOtherObjectShows) {
  const std::vector<Record> records = {
      {},
      {.name = "2001:db8::1", .owner = "2001:db8::1"},
      {.uid = "", .time = "", .name_space = "", .owner = ""},
      {.uid = "not-a-uid", .time = "yesterday", .name_space = R"(a\"b)", .owner = "\xff\x80"},
      {.uid = "C0FFEE00-0123-4567-89ab-000000000001", .time = "2026-02-30T00:00:00Z"},
      {.time = "9999-12-31T23:59:59Z", .name_space = "name", .owner = "default"}};
  const std::string long_bytes(300, '\0');
  for (const Record& record : records) {
    for (const Extras& extras : {Extras{}, Extras{.hidden = "static"},
                                 Extras{.protobuf = long_bytes}, Extras{"proto", long_bytes}}) {
      const ObjectPtr marked = MakeRecord(record, true, extras);
      EXPECT_EQ(Views(*marked), Views(*MakeRecord(record, false, extras)));
      EXPECT_EQ(marked->Hidden(), extras.hidden);
      EXPECT_EQ(marked->Protobuf(), extras.protobuf);
    }
  }
}

TEST(RecordTest, MayHaveWhatItHas) {
  for (const bool marked : {false, true}) {
    const ObjectPtr record = MakeRecord({.owner = "ownerReferences"}, marked);
    EXPECT_TRUE(record->MayHave(R"("creationTimestamp":)"));
    EXPECT_TRUE(record->MayHave(R"("uid":)"));
    EXPECT_FALSE(record->MayHave(R"("ownerReferences":)")) << "that is a value";
    EXPECT_FALSE(record->MayHave(R"("c0ffee00-0123-4567-89ab-000000000001":)"));
  }
}

TEST(RecordTest, AllThatAreAlikeShareOneText) {
  const size_t texts = SharedText::CountAll();
  const ObjectPtr first = MakeRecord({}, true);
  EXPECT_EQ(SharedText::CountAll(), texts + 1);
  const ObjectPtr second = MakeRecord({.name = "10.0.0.2",
                                       .uid = "c0ffee00-0123-4567-89ab-000000000002",
                                       .time = "2027-01-01T00:00:00Z",
                                       .name_space = "shop",
                                       .owner = "cart"},
                                      true);
  EXPECT_EQ(SharedText::CountAll(), texts + 1);
  // A record in another form has a text of its own and does not affect the others.
  ObjectPtr odd = MakeRecord({.name = "10.0.0.3", .uid = "odd"}, true);
  EXPECT_EQ(SharedText::CountAll(), texts + 2);
  odd.reset();
  EXPECT_EQ(SharedText::CountAll(), texts + 1);
  EXPECT_NE(Views(*first)[0], Views(*second)[0]);
}

/// Returns the size of the object's own allocation, as malloc has rounded it.
size_t MemoryOf(const Object& object) {
  constexpr size_t kReferenceCounts = 16;
  return malloc_usable_size(reinterpret_cast<char*>(const_cast<Object*>(&object)) -
                            kReferenceCounts);
}

TEST(RecordTest, TakesLittleMemory) {
  std::vector<ObjectPtr> records;
  for (int i = 0; i < 100; ++i) records.push_back(MakeRecord({}, true, {.hidden = "dynamic"}));
  EXPECT_LE(MemoryOf(*records.front()), 112U);
  EXPECT_GE(MemoryOf(*MakeRecord({}, false)), 450U);
  EXPECT_LT(records.front()->Bytes(), 150U);
  EXPECT_GE(records.front()->Bytes(), 100U);
}

}  // namespace
}  // namespace berth::state
