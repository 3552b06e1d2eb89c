// What an object in the snapshot keeps: its managed fields, and fields that only a newer server
// knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "allocation/testing/registry_stack.h"
#include "codec/protobuf.h"
#include "codec/storage.h"

namespace berth::registry {
namespace {

using allocation::testing::kStart;
using allocation::testing::RegistryTest;
using allocation::testing::Text;
using codec::ArrayAt;
using codec::FindAt;
using codec::StringAt;
using codec::Value;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns field 99, three bytes long.
std::string Unknown(const std::string& three) { return "\x9a\x06\x03" + three; }

constexpr const char* kService =
    "{'metadata':{'name':'a'},'spec':{'ports':[{'name':'x','port':80},{'name':'y','port':81}]}}";

class SnapshotObjectTest : public RegistryTest {
 protected:
  const std::string key_ = "/registry/services/specs/shop/a";

  /// Stores the Service as a newer server would, with unknown fields in several places.
  void StoreNewer() {
    Must(Create(Service(""), kService));
    Value object = *Get(Service("a"));
    object.Set(std::string(codec::kUnknownFields), Unknown("top"));
    object.Find("metadata")->Set(std::string(codec::kUnknownFields), Unknown("met"));
    object.Find("spec")->Set(std::string(codec::kUnknownFields), Unknown("spe"));
    FindAt(object, "spec", "ports")
        ->AsArray()
        ->at(1)
        .Set(std::string(codec::kUnknownFields), Unknown("por"));
    store_.Put(key_, codec::EncodeStored(object, *Kind("services").row->kind));
    PumpAll();
  }
  std::string Stored() const { return store::GetNow(*store_.engine, key_)->value().value; }
  void ExpectAllKept() const {
    for (const char* part : {"top", "met", "spe", "por"}) {
      EXPECT_THAT(Stored(), HasSubstr(Unknown(part)));
    }
    const Value now = *Get(Service("a"));
    EXPECT_EQ(StringAt(now, codec::kUnknownFields), Unknown("top"));
    EXPECT_EQ(StringAt(now, "metadata", codec::kUnknownFields), Unknown("met"));
    EXPECT_EQ(StringAt(now, "spec", codec::kUnknownFields), Unknown("spe"));
  }
};

TEST_F(SnapshotObjectTest, ManagedFieldsComeBack) {
  const auto made = Must(Create(Service(""), kService, {.manager = "somebody"}));
  const Row& row = *Kind("services").row;
  const auto full = Registry::Decode(row, *made.written.object);
  ASSERT_TRUE(full);
  ASSERT_EQ(ArrayAt(*full, "metadata", "managedFields").size(), 1u);
  EXPECT_EQ(StringAt(ArrayAt(*full, "metadata", "managedFields")[0], "manager"), "somebody");
  EXPECT_EQ(StringAt(ArrayAt(*full, "metadata", "managedFields")[0], "time"), kStart);
  EXPECT_EQ(StringAt(*full, "metadata", "resourceVersion"), std::to_string(made.written.revision));

  auto without = DecodeWithoutManagedFields(row, *made.written.object);
  ASSERT_TRUE(without);
  Value expected = *full;
  codec::EraseAt(expected, {"metadata", "managedFields"});
  codec::EraseAt(expected, {"metadata", "resourceVersion"});
  EXPECT_EQ(*without, expected);
}

TEST_F(SnapshotObjectTest, ServicesMadeAlikeShareTheirManagedFields) {
  const auto make = [this](const std::string& name) {
    return Must(Create(Service(""),
                       "{'metadata':{'name':'" + name + "','labels':{'app':'" + name +
                           "'}},'spec':{'ports':[{'port':80}]}}",
                       {.manager = "somebody"}))
        .written.object->Bytes();
  };
  const size_t first = make("a");
  store_.clock.Advance(std::chrono::hours(1));
  EXPECT_LT(make("b") + 200, first);
}

/// Returns the size of the largest object of a resource, in bytes.
size_t MostBytes(const state::Snapshot& snapshot, const std::string& prefix) {
  size_t most = 0;
  for (state::SnapshotIterator at = snapshot.Seek(prefix); at.Valid(); at.Next()) {
    most = std::max(most, at.Get()->Bytes());
  }
  return most;
}

TEST_F(SnapshotObjectTest, RecordsTakeLittle) {
  constexpr size_t kServices = 50;
  for (size_t i = 0; i < kServices; ++i) {
    const std::string name = "cart-" + std::to_string(i);
    Must(Create(Service(""), "{'metadata':{'name':'" + name +
                                 "'},'spec':{'type':'NodePort','ports':[{'port':80}]}}"));
    store_.clock.Advance(std::chrono::seconds(1));
  }
  // The same holds when they are read from the store.
  state::Follower again(*store_.engine, resources_, {}, state::FollowerOptions(), store_.clock,
                        store_.log);
  while (again.Pump()) {
  }
  for (const state::Follower* follower : {follower_.get(), &again}) {
    for (const api::Kind* kind : {&api::kIpAddressKind, &api::kNodePortKind}) {
      const std::string& prefix = kinds_.FindRow(*kind)->prefix;
      EXPECT_EQ(follower->Current()->Count(prefix), kServices) << prefix;
      EXPECT_LT(MostBytes(*follower->Current(), prefix), 160u) << prefix;
    }
  }
}

TEST_F(SnapshotObjectTest, ReplacingKeepsUnknownFields) {
  StoreNewer();
  ExpectAllKept();
  ASSERT_THAT(Text(Update(Service("a"),
                          "{'metadata':{'name':'a','labels':{'l':'1'}},'spec':{'ports':["
                          "{'name':'y','port':81},{'name':'z','port':82}]}}")),
              StartsWith("updated"));
  ExpectAllKept();
  EXPECT_EQ(StringAt(*Get(Service("a")), "metadata", "labels", "l"), "1");
  const Value now = *Get(Service("a"));
  EXPECT_EQ(StringAt(ArrayAt(now, "spec", "ports")[0], codec::kUnknownFields), Unknown("por"));
  EXPECT_EQ(StringAt(ArrayAt(now, "spec", "ports")[1], codec::kUnknownFields), "");
  // The unknown field is deleted with the port that it belongs to.
  ASSERT_THAT(Text(Update(Service("a"), "{'metadata':{'name':'a'},'spec':{'ports':[{'port':8}]}}")),
              StartsWith("updated"));
  EXPECT_EQ(Stored().find(Unknown("por")), std::string::npos);
  EXPECT_THAT(Stored(), HasSubstr(Unknown("spe")));
}

TEST_F(SnapshotObjectTest, UnknownFieldsAreNoChange) {
  StoreNewer();
  EXPECT_THAT(Text(Update(Service("a"), kService)), StartsWith("unchanged"));
  ExpectAllKept();
}

TEST_F(SnapshotObjectTest, AStatusWriteKeepsUnknownFields) {
  StoreNewer();
  ASSERT_THAT(Text(Update(Service("a"),
                          "{'metadata':{'name':'a'},'status':{'conditions':[{'type':'T','status':"
                          "'True','reason':'R','lastTransitionTime':'2026-11-15T04:35:00Z'}]}}",
                          Door::kStatus)),
              StartsWith("updated"));
  ExpectAllKept();
}

TEST_F(SnapshotObjectTest, DeletingOneWithFinalizersKeepsUnknownFields) {
  StoreNewer();
  ASSERT_THAT(Text(Update(Service("a"),
                          "{'metadata':{'name':'a','finalizers':['x.io/y']},'spec':{'ports':["
                          "{'name':'x','port':80},{'name':'y','port':81}]}}")),
              StartsWith("updated"));
  ASSERT_THAT(Text(Delete(Service("a"))), StartsWith("updated"));
  ExpectAllKept();
}

TEST_F(SnapshotObjectTest, CreatingOneWithUnknownFieldsKeepsThem) {
  Value object = ParseFor(Service(""), kService);
  object.Find("spec")->Set(std::string(codec::kUnknownFields), Unknown("new"));
  Must(Wait([&](Done done) { registry_->Create(Service(""), object, {}, std::move(done)); }));
  EXPECT_THAT(Stored(), HasSubstr(Unknown("new")));
  EXPECT_EQ(StringAt(*Get(Service("a")), "spec", codec::kUnknownFields), Unknown("new"));
}

TEST_F(SnapshotObjectTest, AnEventWrittenThroughItsOtherViewKeepsUnknownFields) {
  const Target core = At("events", "shop", "e");
  const Target view = At("events.k8s.io/events", "shop", "e");
  Value object = ParseFor(core, "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'}}");
  object.Set(std::string(codec::kUnknownFields), Unknown("eve"));
  Must(Wait([&](Done done) { registry_->Create(core, object, {}, std::move(done)); }));
  EXPECT_EQ(StringAt(*Get(view), codec::kUnknownFields), Unknown("eve"));
  ASSERT_THAT(Text(Update(view,
                          "{'metadata':{'name':'e','labels':{'l':'1'}},"
                          "'regarding':{'namespace':'shop'}}")),
              StartsWith("updated"));
  EXPECT_EQ(StringAt(*Get(core), codec::kUnknownFields), Unknown("eve"));
}

}  // namespace
}  // namespace berth::registry
