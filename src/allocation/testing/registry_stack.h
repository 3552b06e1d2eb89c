// For tests only: a registry on a store in memory, where nothing happens by itself. A write is
// answered when the test lets the follower run, and the clock stands still until the test moves it.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/allocator.h"
#include "allocation/records.h"
#include "codec/decode.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "registry/registry.h"
#include "rules/range_spec.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::allocation::testing {

/// The time at which each test begins.
inline constexpr const char* kStart = "2026-11-15T04:35:00Z";

/// Returns the object of the kind, in the stored form, from JSON with ' for ".
inline codec::Value Parse(const registry::Served& served, std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  auto decoded = codec::DecodeJson(text, *served.Kind().message);
  EXPECT_TRUE(decoded) << text << ": " << (decoded ? "" : decoded.error().message);
  if (!decoded) return codec::Object();
  return served.IsStoredForm() ? decoded->object : served.view->to_stored(decoded->object);
}

/// Returns the message of an error, or what was done and at which revision: "created @7".
inline std::string Text(const base::Result<registry::Outcome>& outcome) {
  if (!outcome) return outcome.error().message;
  static const char* const kinds[] = {"created", "updated", "deleted", "unchanged"};
  return std::string(kinds[static_cast<size_t>(outcome->written.kind)]) + " @" +
         std::to_string(outcome->written.revision);
}

/// A ledger with addresses of 10.96.0.0/16 and ports 30000 to 32767, for a registry in a test.
struct TestAddresses {
  explicit TestAddresses(const registry::Kinds& kinds, const registry::Gates& gates = {})
      : ledger(allocation::MakeRecordReader(allocation::RecordRowsOf(kinds), gates),
               base::SeededRandom(11)) {}

  /// The ranges must be in the store before the follower reads it.
  static void PutRanges(state::testing::TestStore& store, const registry::Kinds& kinds,
                        const std::vector<std::string>& cidrs = {"10.96.0.0/16"},
                        const std::string& ports = "30000-32767") {
    const allocation::RecordRows rows = allocation::RecordRowsOf(kinds);
    std::vector<ip::Cidr> parsed;
    for (const std::string& cidr : cidrs) parsed.push_back(ip::ParseCidr(cidr).value());
    store.Put(rows.service_cidrs->prefix + std::string(allocation::kDefaultServiceCidr),
              codec::EncodeStored(allocation::ServiceCidrOf(parsed), *rows.service_cidrs->kind));
    store.Put(rows.node_port_ranges->prefix + std::string(rules::kNodePortRangeName),
              codec::EncodeStored(allocation::NodePortRangeOf(ip::ParsePortRange(ports).value()),
                                  *rows.node_port_ranges->kind));
  }

  allocation::Ledger ledger;
};

/// Called for each attempt at a write that is valid. An error is the answer. `old` is null for a
/// create, and `next` is null for a delete.
using Admit = std::function<std::optional<base::Error>(
    const registry::Target& target, const codec::Value* old, const codec::Value* next)>;

/// The hooks of a kind, after a function of the test that may refuse the write.
class AdmittingHooks final : public registry::KindHooks {
 public:
  AdmittingHooks(registry::KindHooks& inner, const Admit& admit) : inner_(inner), admit_(admit) {}

  std::shared_ptr<registry::WriteHooks> Begin(const registry::Target& target,
                                              const registry::CommonOptions& options) override {
    return std::make_shared<Write>(inner_.Begin(target, options), admit_);
  }
  std::vector<commit::Guard> Guards(const registry::Target& target) const override {
    return inner_.Guards(target);
  }
  bool Exists(const state::Object& object) const override { return inner_.Exists(object); }
  std::optional<std::string> WarningAboutExisting(const registry::Target& target,
                                                  const state::Object& object) const override {
    return inner_.WarningAboutExisting(target, object);
  }
  void Refresh(const state::Object& object, codec::Value& value) const override {
    inner_.Refresh(object, value);
  }
  bool IsFresh(const state::Object& object, std::string_view json) const override {
    return inner_.IsFresh(object, json);
  }

 private:
  class Write final : public registry::WriteHooks {
   public:
    Write(std::shared_ptr<registry::WriteHooks> inner, const Admit& admit)
        : inner_(std::move(inner)), admit_(admit) {}

    void Begin(codec::Value& object) override { inner_->Begin(object); }
    std::optional<commit::Refusal> OnCreate(const registry::Attempt& attempt,
                                            registry::Draft& draft,
                                            commit::Decision& decision) override {
      if (auto error = Ask(attempt, nullptr, &draft.object)) return commit::Refusal(*error);
      return inner_->OnCreate(attempt, draft, decision);
    }
    std::optional<commit::Refusal> OnUpdate(const registry::Attempt& attempt,
                                            registry::Draft& draft,
                                            commit::Decision& decision) override {
      if (auto error = Ask(attempt, draft.old, &draft.object)) return commit::Refusal(*error);
      return inner_->OnUpdate(attempt, draft, decision);
    }
    std::optional<commit::Refusal> OnDelete(const registry::Attempt& attempt,
                                            const codec::Value& old,
                                            commit::Decision& decision) override {
      if (auto error = Ask(attempt, &old, nullptr)) return commit::Refusal(*error);
      return inner_->OnDelete(attempt, old, decision);
    }
    std::optional<std::string> Warning(const codec::Value& object) override {
      return inner_->Warning(object);
    }
    void OnAnswer() override { inner_->OnAnswer(); }

   private:
    std::optional<base::Error> Ask(const registry::Attempt& attempt, const codec::Value* old,
                                   const codec::Value* next) const {
      return admit_ ? admit_(attempt.target, old, next) : std::nullopt;
    }

    const std::shared_ptr<registry::WriteHooks> inner_;
    const Admit& admit_;
  };

  registry::KindHooks& inner_;
  const Admit& admit_;
};

/// A registry with the hooks of the allocator.
struct TestRegistry {
  TestRegistry(const registry::Kinds& kinds, const state::Resources& resources,
               commit::Sequencer& sequencer, allocation::Ledger& ledger, const base::Clock& clock,
               uint64_t seed = 1, const registry::Gates& gates = {})
      : allocator({.kinds = kinds,
                   .gates = gates,
                   .ledger = ledger,
                   .sequencer = sequencer,
                   .clock = clock},
                  base::SeededRandom(seed + 11)),
        registry(
            kinds, resources, sequencer, hooks, [this] { return allocator.Settings(); }, clock,
            base::SeededRandom(seed)) {
    for (const registry::Row& row : kinds.Rows()) {
      hooks.Add(row, admitting.emplace_back(allocator.Hooks().Of(row), admit));
    }
  }

  allocation::Allocator allocator;
  Admit admit;
  std::deque<AdmittingHooks> admitting;
  registry::HookTable hooks;
  registry::Registry registry;
};

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    store_.clock.Advance(codec::ParseTime(kStart)->time_since_epoch());
    store_.Open();
    TestAddresses::PutRanges(store_, kinds_);
    follower_ = std::make_unique<state::Follower>(
        *store_.engine, resources_, std::vector<state::Listener*>{&addresses_.ledger},
        state::FollowerOptions(), store_.clock, store_.log);
    sequencer_ = std::make_unique<commit::Sequencer>(
        commit::SequencerParts{*store_.engine, *follower_, resources_, store_.clock, *follower_},
        commit::SequencerOptions());
    MakeRegistry(1);
    PumpAll();
    Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'shop'}}"));
  }

  /// Makes a registry on the existing follower and sequencer.
  void MakeRegistry(uint64_t seed) {
    registry_with_hooks_ = std::make_unique<TestRegistry>(kinds_, resources_, *sequencer_,
                                                          addresses_.ledger, store_.clock, seed);
    registry_ = &registry_with_hooks_->registry;
  }
  void SetAdmit(Admit admit) { registry_with_hooks_->admit = std::move(admit); }
  allocation::RangeChanges& Ranges() { return registry_with_hooks_->allocator.Ranges(); }

  void PumpAll() {
    while (follower_->Pump()) {
    }
  }

  /// Returns the kind of a resource: "services", or "events.k8s.io/events" for one that has a
  /// group.
  registry::Served Kind(std::string_view resource) const {
    const size_t slash = resource.find('/');
    const bool core = slash == std::string_view::npos;
    const std::string_view group = core ? "" : resource.substr(0, slash);
    const auto served = kinds_.Find(group, group == "allocation.berth.io" ? "v1alpha1" : "v1",
                                    core ? resource : resource.substr(slash + 1));
    EXPECT_TRUE(served) << resource;
    return served.value_or(registry::Served());
  }
  registry::Target At(std::string_view resource, std::string name_space, std::string name) const {
    return {.served = Kind(resource), .name_space = std::move(name_space), .name = std::move(name)};
  }
  registry::Target Service(std::string name) const {
    return At("services", "shop", std::move(name));
  }

  /// Parses the object and fills in the namespace, as the server does.
  codec::Value ParseFor(const registry::Target& target, std::string text) const {
    codec::Value object = Parse(target.served, std::move(text));
    if (!target.name_space.empty()) {
      codec::SetAt(object, {"metadata", "namespace"}, target.name_space);
    }
    return object;
  }

  base::Result<registry::Outcome> Create(const registry::Target& target, std::string text,
                                         registry::CommonOptions options = {}) {
    return Wait([&](registry::Done done) {
      registry_->Create(target, ParseFor(target, std::move(text)), options, std::move(done));
    });
  }
  base::Result<registry::Outcome> Update(const registry::Target& target, std::string text,
                                         registry::Door door = registry::Door::kMain,
                                         registry::CommonOptions options = {}) {
    return Wait([&](registry::Done done) {
      registry_->Update(target, {.door = door}, Always(ParseFor(target, std::move(text))), options,
                        std::move(done));
    });
  }
  base::Result<registry::Outcome> Delete(const registry::Target& target,
                                         registry::DeleteOptions remove = {},
                                         registry::CommonOptions options = {}) {
    return Wait([&](registry::Done done) {
      registry_->Delete(target, std::move(remove), options, std::move(done));
    });
  }
  static registry::NextState Always(codec::Value next) {
    return [next = std::move(next)](const codec::Value*) -> base::Result<registry::Next> {
      return registry::Next{.object = next};
    };
  }

  /// Returns the answer to what `begin` asks for. It must come without anything else happening.
  template <typename Begin>
  base::Result<registry::Outcome> Wait(const Begin& begin) {
    std::optional<base::Result<registry::Outcome>> answer;
    begin([&answer](base::Result<registry::Outcome> outcome) { answer = std::move(outcome); });
    PumpAll();
    EXPECT_TRUE(answer) << "no answer";
    return answer ? *std::move(answer) : base::Fail(base::Reason::kUnknown, "no answer");
  }

  /// Returns the outcome of a write that must succeed before the test begins.
  static registry::Outcome Must(base::Result<registry::Outcome> outcome) {
    EXPECT_TRUE(outcome) << Text(outcome);
    return outcome ? *std::move(outcome) : registry::Outcome();
  }

  /// Returns the object in the target's view, or nullopt if it does not exist.
  std::optional<codec::Value> Get(const registry::Target& target) const {
    const auto name = target.served.StoredName(target.name);
    if (!name) return std::nullopt;
    const state::ObjectPtr found = follower_->Current()->Find(
        resources_.Key(target.served.row->resource, target.name_space, *name));
    if (found == nullptr) return std::nullopt;
    return Show(target, *found);
  }
  codec::Value Show(const registry::Target& target, const state::Object& object) const {
    auto value = registry::Registry::Decode(*target.served.row, object);
    EXPECT_TRUE(value);
    if (!value) return codec::Object();
    return target.served.Show(*std::move(value), object, registry_->HooksOf(*target.served.row));
  }
  int64_t Revision() const { return follower_->Current()->Revision(); }

  state::testing::TestStore store_;
  const registry::Kinds kinds_;
  const state::Resources resources_ = kinds_.MakeResources();
  TestAddresses addresses_{kinds_};
  std::unique_ptr<state::Follower> follower_;
  std::unique_ptr<commit::Sequencer> sequencer_;
  std::unique_ptr<TestRegistry> registry_with_hooks_;
  registry::Registry* registry_ = nullptr;
};

}  // namespace berth::allocation::testing
