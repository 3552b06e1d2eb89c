#include "state/snapshot.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "state/testing/objects.h"

namespace berth::state {
namespace {

using Model = std::map<std::string, int64_t>;

ObjectPtr MakeObject(const Resources& resources, const std::string& key, int64_t revision) {
  return Object::Make(*resources.Find(key), revision, testing::Wire("x"));
}

Model Read(const Snapshot& snapshot, const std::string& prefix, std::string_view from = {}) {
  Model read;
  std::string last;
  for (SnapshotIterator at = snapshot.Seek(prefix, from); at.Valid(); at.Next()) {
    const std::string key(at.Get()->Key());
    EXPECT_LT(last, key);
    last = key;
    read[key] = at.Get()->Revision();
  }
  return read;
}

Model Part(const Model& model, const std::string& prefix, const std::string& from = {}) {
  Model part;
  for (const auto& [key, revision] : model) {
    if (key.starts_with(prefix) && key >= from) part[key] = revision;
  }
  return part;
}

void ExpectEqual(const Snapshot& snapshot, const Model& model, base::Random& random) {
  ASSERT_EQ(snapshot.Size(), model.size());
  for (const std::string prefix :
       {"", "/registry/services/specs/", "/registry/services/specs/a/",
        "/registry/services/specs/a-b/", "/registry/namespaces/", "/z"}) {
    const Model part = Part(model, prefix);
    ASSERT_EQ(Read(snapshot, prefix), part) << prefix;
    ASSERT_EQ(snapshot.Count(prefix), part.size()) << prefix;
    if (part.empty()) continue;
    const std::string from =
        std::next(part.begin(), static_cast<ptrdiff_t>(base::Uniform(random, part.size())))->first +
        (base::Uniform(random, 2) == 0 ? "" : "0");
    const Model rest = Part(model, prefix, from);
    ASSERT_EQ(Read(snapshot, prefix, from), rest) << prefix << " from " << from;
    ASSERT_EQ(snapshot.Count(prefix, from), rest.size()) << prefix << " from " << from;
  }
}

class SnapshotTest : public ::testing::Test {
 protected:
  std::string RandomKey(uint64_t names) {
    const std::string name = "n" + std::to_string(base::Uniform(random_, names));
    switch (base::Uniform(random_, 4)) {
      case 0:
        return "/registry/namespaces/" + name;
      case 1:
        return testing::ServiceKey("a-b", name);
      default:
        return testing::ServiceKey("a", name);
    }
  }

  const uint64_t seed_ = base::TestSeed(71);
  base::SeededRandom random_{seed_};
  const Resources resources_ = testing::MakeResources();
};

TEST_F(SnapshotTest, IsWhatAMapWouldBe) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  Model model;
  int64_t revision = 0;
  SnapshotBuilder builder{Snapshot()};
  std::vector<std::pair<SnapshotPtr, Model>> kept;
  const int64_t batches = base::LongCount(2000);
  for (int64_t batch = 0; batch < batches; ++batch) {
    // It grows for a while and then shrinks, so that nodes are split and joined.
    const bool growing = batch / 50 % 2 == 0;
    for (uint64_t i = base::Uniform(random_, 60); i > 0; --i) {
      const std::string key = RandomKey(2000);
      const auto found = model.find(key);
      const ObjectPtr before = builder.Find(key);
      ASSERT_EQ(before != nullptr, found != model.end());
      ObjectPtr previous;
      if (base::Uniform(random_, 10) < (growing ? 8 : 2)) {
        previous = builder.Put(MakeObject(resources_, key, ++revision));
        model[key] = revision;
      } else {
        previous = builder.Erase(key);
        model.erase(key);
      }
      ASSERT_EQ(previous, before);
    }
    const SnapshotPtr snapshot = builder.Publish(++revision);
    ASSERT_EQ(snapshot->Revision(), revision);
    if (batch % 20 == 0) {
      ExpectEqual(*snapshot, model, random_);
      kept.emplace_back(snapshot, model);
    }
  }
  for (const auto& [snapshot, then] : kept) ExpectEqual(*snapshot, then, random_);
}

TEST_F(SnapshotTest, CanBeEmptiedAndFilledAgain) {
  SnapshotBuilder builder{Snapshot()};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3000; ++i) {
      builder.Put(MakeObject(resources_, testing::ServiceKey("a", std::to_string(i)), i + 1));
    }
    const SnapshotPtr full = builder.Publish(round + 1);
    for (int i = 0; i < 3000; ++i) {
      ASSERT_NE(builder.Erase(testing::ServiceKey("a", std::to_string(i))), nullptr);
    }
    const SnapshotPtr empty = builder.Publish(round + 2);
    EXPECT_EQ(full->Size(), 3000U);
    EXPECT_EQ(empty->Size(), 0U);
    EXPECT_FALSE(empty->Seek("").Valid());
    EXPECT_EQ(builder.Erase("/registry/services/specs/a/1"), nullptr);
  }
}

TEST_F(SnapshotTest, BuildersOfOneSnapshotDoNotSeeEachOther) {
  SnapshotBuilder first{Snapshot()};
  for (int i = 0; i < 100; ++i) {
    first.Put(MakeObject(resources_, testing::ServiceKey("a", std::to_string(i)), 1));
  }
  const SnapshotPtr base = first.Publish(1);
  SnapshotBuilder second{*base};
  first.Erase(testing::ServiceKey("a", "7"));
  second.Put(MakeObject(resources_, testing::ServiceKey("a", "7"), 2));
  second.Put(MakeObject(resources_, testing::ServiceKey("b", "7"), 2));
  EXPECT_EQ(first.Publish(2)->Size(), 99U);
  EXPECT_EQ(second.Publish(2)->Size(), 101U);
  EXPECT_EQ(base->Size(), 100U);
  EXPECT_EQ(base->Find(testing::ServiceKey("a", "7"))->Revision(), 1);
}

TEST_F(SnapshotTest, NamesSortAsBytesOfNamespaceSlashName) {
  SnapshotBuilder builder{Snapshot()};
  for (const char* name_space : {"a", "a-b", "a.b", "b"}) {
    builder.Put(MakeObject(resources_, testing::ServiceKey(name_space, "x"), 1));
  }
  const SnapshotPtr snapshot = builder.Publish(1);
  std::string order;
  for (SnapshotIterator at = snapshot->Seek("/registry/services/specs/"); at.Valid(); at.Next()) {
    order.append(at.Get()->Namespace()).append(" ");
  }
  EXPECT_EQ(order, "a-b a.b a b ");
}

}  // namespace
}  // namespace berth::state
