#include "controllers/controllers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "allocation/testing/registry_stack.h"
#include "codec/read.h"
#include "state/past.h"
#include "state/testing/test_store.h"

namespace berth::controllers {
namespace {

using registry::Outcome;
using registry::Propagation;
using registry::Target;

/// Controllers with threads of their own, as in the server.
class ControllersThreadTest : public ::testing::Test {
 protected:
  ControllersThreadTest() {
    store_.OpenForThreads();
    allocation::testing::TestAddresses::PutRanges(store_, kinds_);
    past_ = std::make_unique<state::Past>(*store_.engine, resources_);
    hub_ = std::make_unique<watch::Hub>(*past_, resources_, watch::HubOptions());
    follower_ = std::make_unique<state::Follower>(
        *store_.engine, resources_, std::vector<state::Listener*>{&addresses_.ledger, hub_.get()},
        state::FollowerOptions{.shared_store = true}, store_.system_clock, store_.log);
    sequencer_ = std::make_unique<commit::Sequencer>(
        commit::SequencerParts{*store_.engine, *follower_, resources_, store_.system_clock,
                               *follower_},
        commit::SequencerOptions());
    registry_ = std::make_unique<allocation::testing::TestRegistry>(
        kinds_, resources_, *sequencer_, addresses_.ledger, store_.system_clock);
    follower_->Start();
    EXPECT_TRUE(follower_->WaitReady(std::chrono::seconds(60)));
    Start();
    Must([this](registry::Done done) {
      registry_->registry.Create(At("namespaces", "", ""),
                                 codec::Object{{"metadata", codec::Object{{"name", "shop"}}}}, {},
                                 std::move(done));
    });
  }
  ~ControllersThreadTest() override {
    controllers_->Stop();
    sequencer_->Close();
    follower_->Stop();
  }

  void Start() {
    controllers_ =
        std::make_unique<Controllers>(Controllers::Parts{.registry = registry_->registry,
                                                         .follower = *follower_,
                                                         .hub = *hub_,
                                                         .ledger = addresses_.ledger,
                                                         .allocator = registry_->allocator,
                                                         .clock = store_.system_clock,
                                                         .log = store_.log},
                                      base::SeededRandom(2));
    controllers_->Start();
  }

  Target At(std::string_view plural, std::string name_space, std::string name) const {
    return {.served = *kinds_.Find("", "v1", plural),
            .name_space = std::move(name_space),
            .name = std::move(name)};
  }
  template <typename Begin>
  Outcome Must(const Begin& begin) {
    std::promise<base::Result<Outcome>> promise;
    begin([&promise](base::Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
    base::Result<Outcome> outcome = promise.get_future().get();
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return outcome ? *std::move(outcome) : Outcome();
  }
  /// Creates a Service and returns its uid.
  std::string Make(const std::string& name, const std::string& owner = {},
                   const std::string& uid = {}) {
    const Target target = At("services", "shop", name);
    codec::Value object =
        allocation::testing::Parse(target.served, "{'spec':{'clusterIP':'None'}}");
    codec::SetAt(object, {"metadata", "namespace"}, "shop");
    codec::SetAt(object, {"metadata", "name"}, name);
    if (!owner.empty()) {
      codec::SetAt(object, {"metadata", "ownerReferences"},
                   codec::Array{codec::Object{{"apiVersion", "v1"},
                                              {"kind", "Service"},
                                              {"name", owner},
                                              {"uid", uid},
                                              {"blockOwnerDeletion", true}}});
    }
    const Outcome made = Must([&](registry::Done done) {
      registry_->registry.Create(target, std::move(object), {}, std::move(done));
    });
    const auto value = registry::Registry::Decode(*target.served.row, *made.written.object);
    return std::string(codec::StringAt(*value, "metadata", "uid"));
  }
  void Delete(const Target& target, Propagation propagation = Propagation::kBackground) {
    Must([&](registry::Done done) {
      registry_->registry.Delete(target, {.propagation = propagation}, {}, std::move(done));
    });
  }
  size_t Count(std::string_view prefix) const { return follower_->Current()->Count(prefix); }
  void AwaitNone(std::string_view prefix) const {
    while (Count(prefix) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  state::testing::TestStore store_;
  const registry::Kinds kinds_;
  const state::Resources resources_ = kinds_.MakeResources();
  allocation::testing::TestAddresses addresses_{kinds_};
  std::unique_ptr<state::Past> past_;
  std::unique_ptr<watch::Hub> hub_;
  std::unique_ptr<state::Follower> follower_;
  std::unique_ptr<commit::Sequencer> sequencer_;
  std::unique_ptr<allocation::testing::TestRegistry> registry_;
  std::unique_ptr<Controllers> controllers_;
};

TEST_F(ControllersThreadTest, Collect) {
  for (const Propagation propagation : {Propagation::kBackground, Propagation::kForeground}) {
    const std::string owner = Make("owner");
    for (int i = 0; i < 100; ++i) {
      const std::string name = "a" + std::to_string(i);
      const std::string uid = Make(name, "owner", owner);
      Make("b" + std::to_string(i), name, uid);
    }
    Delete(At("services", "shop", "owner"), propagation);
    AwaitNone("/registry/services/specs/shop/");
  }
}

TEST_F(ControllersThreadTest, EndANamespace) {
  for (int i = 0; i < 1500; ++i) Make("s" + std::to_string(i));
  Delete(At("namespaces", "", "shop"));
  AwaitNone("/registry/namespaces/shop");
  EXPECT_EQ(Count("/registry/services/specs/shop/"), 0U);
}

TEST_F(ControllersThreadTest, StopInTheMiddle) {
  for (int i = 0; i < 1500; ++i) Make("s" + std::to_string(i));
  Delete(At("namespaces", "", "shop"));
  for (int i = 0; i < 20; ++i) {
    controllers_->Stop();
    Start();
  }
  AwaitNone("/registry/namespaces/shop");
}

}  // namespace
}  // namespace berth::controllers
