#include "state/object.h"

#include <gtest/gtest.h>

#include <string>

#include "state/resource.h"
#include "state/testing.h"

namespace berth::state {
namespace {

std::string Json(const Object& object, int64_t revision) {
  std::string out;
  object.AppendJson(out, revision);
  return out;
}

TEST(ObjectTest, ShowsItsJsonWithItsRevision) {
  const Resources resources = testing::MakeResources();
  const std::string key = testing::ServiceKey("default", "web");
  const ObjectPtr object = Object::Make(*resources.Find(key), 42, testing::Wire("x"));
  EXPECT_EQ(object->Key(), key);
  EXPECT_EQ(object->Namespace(), "default");
  EXPECT_EQ(object->Name(), "web");
  EXPECT_EQ(object->Revision(), 42);
  EXPECT_EQ(object->Resource(), testing::kServices);
  std::string out = "> ";
  object->AppendJson(out);
  EXPECT_EQ(out,
            R"(> {"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"42"},"spec":"x"})");
  out = "> ";
  object->AppendListItem(out);
  EXPECT_EQ(out, R"(> {"metadata":{"resourceVersion":"42"},"spec":"x"})");
  EXPECT_EQ(Json(*object, 43),
            R"({"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"43"},"spec":"x"})");
}

TEST(ObjectTest, LeavesTheRevisionOutWhenThereIsNone) {
  const Resources resources = testing::MakeResources();
  const Identity identity = *resources.Find("/registry/namespaces/n");
  const auto without = [&identity](const std::string& head, const std::string& tail) {
    WireText wire{.text = head + tail, .metadata_at = 1, .version_at = head.size()};
    return Json(*Object::Make(identity, 0, wire), 0);
  };
  EXPECT_EQ(without(R"({"metadata":{"resourceVersion":")", R"("}})"), R"({"metadata":{}})");
  EXPECT_EQ(without(R"({"metadata":{"uid":"u","resourceVersion":")", R"("}})"),
            R"({"metadata":{"uid":"u"}})");
  EXPECT_EQ(without(R"({"metadata":{"uid":"u","resourceVersion":")", R"(","x":1}})"),
            R"({"metadata":{"uid":"u","x":1}})");
  EXPECT_EQ(without(R"({"metadata":{"resourceVersion":")", R"(","x":1}})"),
            R"({"metadata":{"x":1}})");
}

TEST(ResourcesTest, FindKnowsWhatAKeyIs) {
  const Resources resources = testing::MakeResources();
  EXPECT_EQ(resources.Find("/registry/services/specs/a/b")->resource, testing::kServices);
  EXPECT_EQ(resources.Find("/registry/namespaces/a")->resource, testing::kNamespaces);
  for (const char* key :
       {"", "/", "/registry/", "/registry/namespaces/", "/registry/namespaces/a/b",
        "/registry/services/specs/a", "/registry/services/specs//b", "/registry/services/specs/a/",
        "/registry/services/specs/a/b/c", "/registry/berth.io/mode", "/zzz"}) {
    EXPECT_FALSE(resources.Find(key).has_value()) << key;
  }
  EXPECT_FALSE(resources.Find("/registry/namespaces/" + std::string(1024, 'a')).has_value());
  EXPECT_EQ(resources.Key(testing::kServices, "a", "b"), "/registry/services/specs/a/b");
  EXPECT_EQ(resources.Key(testing::kNamespaces, "", "b"), "/registry/namespaces/b");
  EXPECT_EQ(resources.Prefix(testing::kServices, "a"), "/registry/services/specs/a/");
  EXPECT_EQ(resources.Prefix(testing::kServices, ""), "/registry/services/specs/");
}

}  // namespace
}  // namespace berth::state
