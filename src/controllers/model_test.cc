// Random owners and dependents, deleted in all ways, compared with a slow model of what must be
// left.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using registry::Propagation;

/// The existing objects and the owners of each. A name that is not in the graph is an owner that no
/// longer exists.
using Graph = std::map<std::string, std::set<std::string>>;

/// Removes all objects none of whose owners exists, until no such object is left. The others keep
/// the owners that exist.
void Collect(Graph& graph) {
  const auto gone = [&graph](const std::string& owner) { return !graph.contains(owner); };
  bool again = true;
  while (again) {
    again = std::erase_if(graph, [&gone](const auto& each) {
              return !each.second.empty() && std::ranges::all_of(each.second, gone);
            }) > 0;
  }
  for (auto& [name, owners] : graph) std::erase_if(owners, gone);
}

void Delete(Graph& graph, const std::string& name, Propagation propagation) {
  graph.erase(name);
  if (propagation == Propagation::kOrphan) {
    for (auto& [dependent, owners] : graph) owners.erase(name);
  }
  Collect(graph);
}

class ModelTest : public testing::ControllersTest {
 protected:
  uint64_t Draw(uint64_t bound) { return base::Uniform(random_, bound); }
  bool Often() { return Draw(4) != 0; }

  static bool IsLease(const std::string& name) { return name.ends_with('l'); }
  registry::Target Target(const std::string& name) const {
    return IsLease(name) ? At("coordination.k8s.io/leases", "shop", name) : Service(name);
  }
  testing::Owner OwnerOf(const std::string& name) {
    testing::Owner owner{.name = name, .uid = UidOf(Target(name)), .blocking = Often()};
    if (IsLease(name)) {
      owner.kind = "Lease";
      owner.api_version = "coordination.k8s.io/v1";
    }
    return owner;
  }

  /// Makes up to a dozen objects, with owners among all of them. Circles are common.
  Graph MakeGraph() {
    Graph graph;
    const size_t count = 2 + Draw(10);
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      names.push_back("n" + std::to_string(i) + (Draw(3) == 0 ? "l" : "s"));
      std::vector<std::string> finalizers;
      if (Draw(4) == 0) finalizers.emplace_back("example.com/held");
      Make(Target(names.back()), {}, finalizers);
    }
    for (const std::string& name : names) {
      std::set<std::string>& owners = graph[name];
      for (uint64_t i = Draw(3); i > 0; --i) owners.insert(names[Draw(count)]);
      std::vector<testing::Owner> references;
      for (const std::string& owner : owners) references.push_back(OwnerOf(owner));
      Change(Target(name), [&](codec::Value& object) {
        if (!references.empty()) {
          codec::SetAt(object, {"metadata", "ownerReferences"}, References(references));
        }
      });
      if (Draw(4) == 0) Run();
    }
    return graph;
  }

  Graph Found() const {
    Graph graph;
    const state::SnapshotPtr now = follower_->Current();
    for (const char* resource : {"services", "coordination.k8s.io/leases"}) {
      for (state::SnapshotIterator at = now->Seek(resources_.Prefix(Kind(resource).row->resource));
           at.Valid(); at.Next()) {
        const std::string name(at.Get()->Name());
        std::set<std::string>& owners = graph[name];
        const codec::Value object = *Get(Target(name));
        for (const codec::Value& owner : codec::ArrayAt(object, "metadata", "ownerReferences")) {
          owners.emplace(codec::StringAt(owner, "name"));
        }
      }
    }
    return graph;
  }

  /// Removes the finalizers of deleted objects, one after the other.
  void ReleaseAll() {
    for (bool again = true; again;) {
      again = false;
      Run();
      for (const auto& [name, owners] : Found()) {
        const codec::Value object = *Get(Target(name));
        const auto finalizers = codec::Texts(codec::ArrayAt(object, "metadata", "finalizers"));
        const bool held = std::ranges::find(finalizers, "example.com/held") != finalizers.end();
        if (!held || !codec::HasAt(object, "metadata", "deletionTimestamp")) continue;
        Change(Target(name), [&](codec::Value& value) {
          std::vector<std::string> rest = finalizers;
          std::erase(rest, "example.com/held");
          SetFinalizers(value, rest);
        });
        again = true;
        if (Often()) break;
      }
    }
  }

  base::SeededRandom random_{0};
};

TEST_F(ModelTest, WhatIsLeftIsWhatTheModelLeaves) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_ = base::SeededRandom(seed);
    Graph model = MakeGraph();
    Collect(model);
    Run();
    ASSERT_EQ(Found(), model);
    while (!model.empty()) {
      const std::string name =
          std::next(model.begin(), static_cast<int>(Draw(model.size())))->first;
      const auto propagation = static_cast<Propagation>(Draw(3));
      SCOPED_TRACE(name + " " + std::to_string(static_cast<int>(propagation)));
      ControllersTest::Delete(Target(name), propagation);
      if (Draw(8) == 0) Restart();
      ReleaseAll();
      controllers::Delete(model, name, propagation);
      ASSERT_EQ(Found(), model);
    }
  }
}

}  // namespace
}  // namespace berth::controllers
