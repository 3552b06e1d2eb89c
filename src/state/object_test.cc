#include "state/object.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "state/resource.h"
#include "state/testing/objects.h"

namespace berth::state {
namespace {

std::string Json(const Object& object, int64_t revision) {
  std::string out;
  object.AppendJson(out, revision);
  return out;
}

std::string Decodable(const Object& object) {
  std::string room;
  return std::string(object.TextWithoutManagedFields(room));
}

TEST(ObjectTest, ShowsItsJsonWithItsRevision) {
  const Resources resources = testing::MakeResources();
  const std::string key = testing::ServiceKey("default", "web");
  const ObjectPtr object = Object::Make(*resources.Find(key), 42, testing::Wire("x"));
  EXPECT_EQ(object->Key(), key);
  EXPECT_EQ(object->KeyAfterPrefix(), "default/web");
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

constexpr std::string_view kManaged =
    R"(,"managedFields":[{"manager":"m","time":"2026-11-15T17:17:39Z"}])";

/// Makes a namespace with managed fields, a `spec` and optional protobuf and hidden bytes.
ObjectPtr MakeManaged(std::string_view managed, int64_t revision, std::string protobuf = {},
                      std::string hidden = {}) {
  static const Resources resources = testing::MakeResources();
  WireText wire;
  wire.text = R"({"kind":"K","metadata":{"resourceVersion":")";
  wire.metadata_at = std::string_view(R"({"kind":"K",)").size();
  wire.version_at = wire.text.size();
  wire.text += '"';
  wire.managed_at = wire.text.size();
  wire.managed_size = managed.size();
  wire.text.append(managed).append(R"(},"spec":1})");
  wire.protobuf = std::move(protobuf);
  wire.hidden = std::move(hidden);
  return Object::Make(*resources.Find("/registry/namespaces/n"), revision, wire);
}

TEST(ObjectTest, ManagedFieldsAreKeptApart) {
  const ObjectPtr object = MakeManaged(kManaged, 42);
  EXPECT_EQ(Decodable(*object), R"({"kind":"K","metadata":{"resourceVersion":""},"spec":1})");
  EXPECT_EQ(Json(*object, 43),
            R"({"kind":"K","metadata":{"resourceVersion":"43","managedFields":[{"manager":"m",)"
            R"("time":"2026-11-15T17:17:39Z"}]},"spec":1})");
  EXPECT_EQ(Json(*object, 0), R"({"kind":"K","metadata":{"managedFields":[{"manager":"m",)"
                              R"("time":"2026-11-15T17:17:39Z"}]},"spec":1})");
  std::string item;
  object->AppendListItem(item);
  EXPECT_EQ(item, R"({"metadata":{"resourceVersion":"42","managedFields":[{"manager":"m",)"
                  R"("time":"2026-11-15T17:17:39Z"}]},"spec":1})");
  EXPECT_GE(object->JsonSize(), Json(*object, INT64_MAX).size());
  EXPECT_LT(object->JsonSize(), Json(*object, 1).size() + 20);
}

TEST(ObjectTest, ManagedFieldsAreSharedButForTheirTimes) {
  const size_t texts = SharedText::CountAll();
  ObjectPtr first = MakeManaged(kManaged, 1);
  const size_t alone = first->Bytes();
  const ObjectPtr later =
      MakeManaged(R"(,"managedFields":[{"manager":"m","time":"2027-01-01T00:00:00Z"}])", 2);
  EXPECT_EQ(SharedText::CountAll(), texts + 1);
  EXPECT_LT(later->Bytes(), alone);
  EXPECT_GT(Json(*later, 2).find("2027-01-01T00:00:00Z"), 0u);
  const ObjectPtr other =
      MakeManaged(R"(,"managedFields":[{"manager":"o","time":"2027-01-01T00:00:00Z"}])", 3);
  EXPECT_EQ(SharedText::CountAll(), texts + 2);
  first.reset();
  EXPECT_EQ(later->Bytes(), alone);
  EXPECT_EQ(Json(*later, 2).find("2026-11-15T17:17:39Z"), std::string::npos);
}

TEST(ObjectTest, CarriesProtobufIfThereIsAny) {
  const std::string bytes("k\0\xff", 3);
  for (const std::string_view managed : {std::string_view(), kManaged}) {
    const ObjectPtr with = MakeManaged(managed, 1, bytes);
    EXPECT_EQ(with->Protobuf(), bytes);
    const ObjectPtr without = MakeManaged(managed, 1);
    EXPECT_EQ(without->Protobuf(), "");
    EXPECT_EQ(Json(*with, 7), Json(*without, 7));
  }
}

TEST(ObjectTest, CarriesHiddenBytesIfThereAreAny) {
  const std::string bytes("h\0\xff", 3);
  for (const std::string_view managed : {std::string_view(), kManaged}) {
    for (const char* protobuf : {"", "proto"}) {
      const ObjectPtr with = MakeManaged(managed, 1, protobuf, bytes);
      EXPECT_EQ(with->Hidden(), bytes);
      EXPECT_EQ(with->Protobuf(), protobuf);
      const ObjectPtr without = MakeManaged(managed, 1, protobuf);
      EXPECT_EQ(without->Hidden(), "");
      EXPECT_EQ(Json(*with, 7), Json(*without, 7));
      EXPECT_EQ(Decodable(*with), Decodable(*without));
      EXPECT_GT(with->Bytes(), without->Bytes());
    }
  }
}

TEST(ObjectTest, KeysAreComparedWithoutPuttingThemTogether) {
  const Resources resources = testing::MakeResources();
  const auto make = [&resources](std::string_view key) {
    return Object::Make(*resources.Find(key), 1, testing::Wire("x"));
  };
  const ObjectPtr web = make("/registry/services/specs/default/web");
  EXPECT_TRUE(web->KeyIs("/registry/services/specs/default/web"));
  for (const char* other :
       {"", "/registry/services/specs/", "/registry/services/specs/default/we",
        "/registry/services/specs/default/web2", "/registry/services/SPECS/default/web"}) {
    EXPECT_FALSE(web->KeyIs(other)) << other;
  }
  for (const char* begin : {"", "/reg", "/registry/services/specs/", "/registry/services/specs/def",
                            "/registry/services/specs/default/web"}) {
    EXPECT_TRUE(web->KeyStartsWith(begin)) << begin;
  }
  for (const char* other : {"/x", "/registry/namespaces/", "/registry/services/specs/x",
                            "/registry/services/specs/default/web2"}) {
    EXPECT_FALSE(web->KeyStartsWith(other)) << other;
  }
  const ObjectPtr other = make("/registry/services/specs/default/wea");
  EXPECT_GT(web->CompareKey(*other), 0);
  EXPECT_LT(other->CompareKey(*web), 0);
  EXPECT_EQ(web->CompareKey(*web), 0);
  EXPECT_GT(web->CompareKey(*make("/registry/namespaces/zzz")), 0);
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
