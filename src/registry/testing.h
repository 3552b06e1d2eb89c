// For tests only: a registry on a store in memory, where nothing happens by itself. A write is
// answered when the test lets the follower run, and the clock stands still until it is moved.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/decode.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "registry/addresses.h"
#include "registry/records.h"
#include "registry/registry.h"
#include "rules/range_spec.h"
#include "state/follower.h"
#include "state/testing_store.h"

namespace berth::registry::testing {

/// What time it is when a test begins.
inline constexpr const char* kStart = "2026-11-15T04:35:00Z";

/// JSON with ' for ", as an object of the kind, in the stored form.
inline codec::Value Parse(const Served& served, std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  auto decoded = codec::DecodeJson(text, *served.Kind().message);
  EXPECT_TRUE(decoded) << text << ": " << (decoded ? "" : decoded.error().message);
  if (!decoded) return codec::Object();
  return served.IsStoredForm() ? decoded->object : served.view->to_stored(decoded->object);
}

/// The message of an error, or what was done and at which revision: "created @7".
inline std::string Text(const base::Result<Outcome>& outcome) {
  if (!outcome) return outcome.error().message;
  static const char* const kinds[] = {"created", "updated", "deleted", "unchanged"};
  return std::string(kinds[static_cast<size_t>(outcome->written.kind)]) + " @" +
         std::to_string(outcome->written.revision);
}

/// Addresses of 10.96.0.0/16 and ports 30000 to 32767, for a registry in a test.
struct TestAddresses {
  TestAddresses(const Kinds& kinds, const base::Clock& clock, const Gates& gates = {})
      : allocations(MakeRecordReader(RecordRowsOf(kinds), gates), base::SeededRandom(11)),
        addresses(allocations, RecordRowsOf(kinds), clock, base::SeededRandom(12)) {}

  /// The ranges must be in the store before the follower reads it.
  static void PutRanges(state::testing::TestStore& store, const Kinds& kinds,
                        const std::vector<std::string>& cidrs = {"10.96.0.0/16"},
                        const std::string& ports = "30000-32767") {
    const RecordRows rows = RecordRowsOf(kinds);
    std::vector<ip::Cidr> parsed;
    for (const std::string& cidr : cidrs) parsed.push_back(ip::ParseCidr(cidr).value());
    store.Put(rows.service_cidrs->prefix + std::string(kDefaultServiceCidr),
              codec::EncodeStored(ServiceCidrOf(parsed), *rows.service_cidrs->kind));
    store.Put(rows.node_port_ranges->prefix + std::string(rules::kNodePortRangeName),
              codec::EncodeStored(NodePortRangeOf(ip::ParsePortRange(ports).value()),
                                  *rows.node_port_ranges->kind));
  }

  commit::Allocations allocations;
  Addresses addresses;
};

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    store_.clock.Advance(codec::ParseTime(kStart)->time_since_epoch());
    store_.Open();
    TestAddresses::PutRanges(store_, kinds_);
    follower_ = std::make_unique<state::Follower>(
        *store_.engine, resources_, std::vector<state::Listener*>{&addresses_.allocations},
        state::FollowerOptions(), store_.clock, store_.log);
    sequencer_ = std::make_unique<commit::Sequencer>(*follower_, commit::SequencerOptions());
    registry_ = std::make_unique<Registry>(kinds_, resources_, *sequencer_, addresses_.addresses,
                                           Gates(), store_.clock, base::SeededRandom(1));
    PumpAll();
    Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'shop'}}"));
  }

  void PumpAll() {
    while (follower_->Pump()) {
    }
  }

  /// "services", or "events.k8s.io/events" for a group of its own.
  Served Kind(std::string_view resource) const {
    const size_t slash = resource.find('/');
    const bool core = slash == std::string_view::npos;
    const std::string_view group = core ? "" : resource.substr(0, slash);
    const auto served = kinds_.Find(group, group == "allocation.berth.io" ? "v1alpha1" : "v1",
                                    core ? resource : resource.substr(slash + 1));
    EXPECT_TRUE(served) << resource;
    return served.value_or(Served());
  }
  Target At(std::string_view resource, std::string name_space, std::string name) const {
    return {.served = Kind(resource), .name_space = std::move(name_space), .name = std::move(name)};
  }
  Target Service(std::string name) const { return At("services", "shop", std::move(name)); }

  /// The namespace is filled in, as the server does it.
  codec::Value ParseFor(const Target& target, std::string text) const {
    codec::Value object = Parse(target.served, std::move(text));
    if (!target.name_space.empty()) {
      codec::SetAt(object, {"metadata", "namespace"}, target.name_space);
    }
    return object;
  }

  base::Result<Outcome> Create(const Target& target, std::string text, CommonOptions options = {}) {
    return Wait([&](Done done) {
      registry_->Create(target, ParseFor(target, std::move(text)), options, std::move(done));
    });
  }
  base::Result<Outcome> Update(const Target& target, std::string text, Door door = Door::kMain,
                               CommonOptions options = {}) {
    return Wait([&](Done done) {
      registry_->Update(target, {.door = door}, Always(ParseFor(target, std::move(text))), options,
                        std::move(done));
    });
  }
  base::Result<Outcome> Delete(const Target& target, DeleteOptions remove = {},
                               CommonOptions options = {}) {
    return Wait(
        [&](Done done) { registry_->Delete(target, std::move(remove), options, std::move(done)); });
  }
  static NextState Always(codec::Value next) {
    return [next = std::move(next)](const codec::Value*) -> base::Result<Next> {
      return Next{.object = next};
    };
  }

  /// The answer to what `begin` asks for, which must come without anything else happening.
  template <typename Begin>
  base::Result<Outcome> Wait(const Begin& begin) {
    std::optional<base::Result<Outcome>> answer;
    begin([&answer](base::Result<Outcome> outcome) { answer = std::move(outcome); });
    PumpAll();
    EXPECT_TRUE(answer) << "no answer";
    return answer ? *std::move(answer) : base::Fail(base::Reason::kUnknown, "no answer");
  }

  /// For what has to work before the test begins.
  static Outcome Must(base::Result<Outcome> outcome) {
    EXPECT_TRUE(outcome) << Text(outcome);
    return outcome ? *std::move(outcome) : Outcome();
  }

  /// The object in the target's view; nothing when it is not there.
  std::optional<codec::Value> Get(const Target& target) const {
    const auto name = target.served.StoredName(target.name);
    if (!name) return std::nullopt;
    const state::ObjectPtr found = follower_->Current()->Find(
        resources_.Key(target.served.row->resource, target.name_space, *name));
    if (found == nullptr) return std::nullopt;
    return Show(target, *found);
  }
  static codec::Value Show(const Target& target, const state::Object& object) {
    auto value = Registry::Decode(*target.served.row, object);
    EXPECT_TRUE(value);
    if (!value) return codec::Object();
    return target.served.Show(*std::move(value), object);
  }
  int64_t Revision() const { return follower_->Current()->Revision(); }

  state::testing::TestStore store_;
  const Kinds kinds_;
  const state::Resources resources_ = kinds_.MakeResources();
  TestAddresses addresses_{kinds_, store_.clock};
  std::unique_ptr<state::Follower> follower_;
  std::unique_ptr<commit::Sequencer> sequencer_;
  std::unique_ptr<Registry> registry_;
};

}  // namespace berth::registry::testing
