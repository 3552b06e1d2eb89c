// For tests only: the controllers beside a registry on a store in memory, where nothing happens by
// itself. Run lets all of them do their work.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocation/testing/registry_stack.h"
#include "controllers/controllers.h"
#include "controllers/range_findings.h"
#include "ip/cidr.h"
#include "state/past.h"

namespace berth::controllers::testing {

/// An ownerReference to a Service, as tests write it.
struct Owner {
  std::string name = {};
  std::string uid = {};  // If empty, that of the Service of that name in the test's namespace.
  bool blocking = false;
  std::string kind = "Service";
  std::string api_version = "v1";
};

class ControllersTest : public allocation::testing::RegistryTest {
 protected:
  ControllersTest() {
    // The follower of the base class does not notify the hub. This one does.
    registry_with_hooks_.reset();
    sequencer_.reset();
    follower_ = std::make_unique<state::Follower>(
        *store_.engine, resources_, std::vector<state::Listener*>{&addresses_.ledger, &hub_},
        state::FollowerOptions(), store_.clock, store_.log);
    sequencer_ = std::make_unique<commit::Sequencer>(
        commit::SequencerParts{*store_.engine, *follower_, resources_, store_.clock, *follower_},
        commit::SequencerOptions());
    MakeRegistry(2);
    PumpAll();
    Restart();
  }
  ~ControllersTest() override { controllers_.reset(); }

  /// Makes the controllers of a server that has just started, with the facts in `replica_`.
  void Restart() {
    controllers_ = std::make_unique<Controllers>(
        Controllers::Parts{.registry = *registry_,
                           .follower = *follower_,
                           .hub = hub_,
                           .ledger = addresses_.ledger,
                           .allocator = registry_with_hooks_->allocator,
                           .clock = store_.clock,
                           .log = log_,
                           .replica = replica_,
                           .findings = &findings_,
                           .asked_cidrs = asked_cidrs_},
        base::SeededRandom(3));
  }

  /// Runs until there is nothing left to do.
  void Run() {
    for (int rounds = 0; rounds < 100'000; ++rounds) {
      const bool followed = follower_->Pump();
      const bool worked = controllers_->Pump();
      if (!followed && !worked) return;
    }
    FAIL() << "the controllers do not come to rest";
  }
  void Advance(std::chrono::nanoseconds by) {
    store_.clock.Advance(by);
    Run();
  }

  std::string UidOf(const registry::Target& target) {
    const auto object = Get(target);
    return object ? std::string(codec::StringAt(*object, "metadata", "uid")) : std::string();
  }

  codec::Value References(const std::vector<Owner>& owners) {
    codec::Array references;
    for (const Owner& owner : owners) {
      codec::Object reference = {
          {"apiVersion", owner.api_version},
          {"kind", owner.kind},
          {"name", owner.name},
          {"uid", owner.uid.empty() ? UidOf(Service(owner.name)) : owner.uid}};
      if (owner.blocking) reference.Set("blockOwnerDeletion", true);
      references.emplace_back(std::move(reference));
    }
    return references;
  }

  void Make(const registry::Target& target, const std::vector<Owner>& owners = {},
            const std::vector<std::string>& finalizers = {}) {
    codec::Value object = ParseFor(
        target, target.served.Kind().kind == "Event"     ? "{'involvedObject':{'namespace':'shop'}}"
                : target.served.Kind().kind == "Service" ? "{'spec':{'ports':[{'port':80}]}}"
                                                         : "{}");
    codec::SetAt(object, {"metadata", "name"}, target.name);
    if (!owners.empty()) codec::SetAt(object, {"metadata", "ownerReferences"}, References(owners));
    SetFinalizers(object, finalizers);
    Must(Wait([&](registry::Done done) {
      registry_->Create(target, std::move(object), {}, std::move(done));
    }));
  }

  static void SetFinalizers(codec::Value& object, const std::vector<std::string>& finalizers) {
    if (finalizers.empty()) {
      codec::EraseAt(object, {"metadata", "finalizers"});
      return;
    }
    codec::Array list;
    for (const std::string& each : finalizers) list.emplace_back(each);
    codec::SetAt(object, {"metadata", "finalizers"}, std::move(list));
  }

  /// Changes an existing object as a client would.
  void Change(const registry::Target& target, const std::function<void(codec::Value&)>& edit,
              registry::Door door = registry::Door::kMain) {
    Must(Wait([&](registry::Done done) {
      registry_->Update(
          target, {.door = door, .way = registry::Way::kPatch},
          [&edit](const codec::Value* current) -> base::Result<registry::Next> {
            registry::Next next{.object = *current};
            edit(next.object);
            return next;
          },
          {}, std::move(done));
    }));
  }
  void Release(const registry::Target& target) {
    Change(target, [](codec::Value& object) { SetFinalizers(object, {}); });
  }

  void Delete(const registry::Target& target,
              std::optional<registry::Propagation> propagation = std::nullopt) {
    Must(RegistryTest::Delete(target, {.propagation = propagation}));
  }

  bool Exists(const registry::Target& target) const { return Get(target).has_value(); }
  /// Returns the names of the Services in the test's namespace.
  std::string Services() const { return Names("services", "shop"); }
  std::string Names(std::string_view resource, std::string_view name_space) const {
    std::string names;
    const state::SnapshotPtr now = follower_->Current();
    for (state::SnapshotIterator at =
             now->Seek(resources_.Prefix(Kind(resource).row->resource, name_space));
         at.Valid(); at.Next()) {
      names += (names.empty() ? "" : " ") + std::string(at.Get()->Name());
    }
    return names;
  }
  /// Returns the names of an object's owners.
  std::string OwnersOf(const registry::Target& target) const {
    std::string names;
    const codec::Value object = Get(target).value_or(codec::Object());
    for (const codec::Value& owner : codec::ArrayAt(object, "metadata", "ownerReferences")) {
      names += (names.empty() ? "" : " ") + std::string(codec::StringAt(owner, "name"));
    }
    return names;
  }

  base::Logger log_{{.sink = [](std::string_view) {}}, store_.clock};
  const state::Past past_{*store_.engine, resources_};
  watch::Hub hub_{past_, resources_, {}};
  ReplicaFacts replica_;
  std::vector<ip::Cidr> asked_cidrs_;
  RangeFindings findings_;  // Says nothing unless the test runs an auditor that sets it.
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace berth::controllers::testing
