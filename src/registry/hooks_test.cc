// The registry and the hooks of a kind, without any other module's hooks.
#include "registry/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "codec/read.h"
#include "commit/sequencer.h"
#include "registry/registry.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Records the calls of its hooks, and adds to decisions what the test wants.
class RecordingHooks final : public KindHooks {
 public:
  class Write final : public WriteHooks {
   public:
    explicit Write(RecordingHooks& owner) : owner_(owner) {}
    void Begin(codec::Value& /*object*/) override { owner_.calls.emplace_back("begin"); }
    std::optional<commit::Refusal> OnCreate(const Attempt& attempt, Draft& draft,
                                            commit::Decision& decision) override {
      owner_.calls.push_back("create " + attempt.target.name);
      codec::SetAt(draft.object, {"metadata", "labels", "by"}, "hook");
      return owner_.Add(decision);
    }
    std::optional<commit::Refusal> OnUpdate(const Attempt& attempt, Draft& draft,
                                            commit::Decision& decision) override {
      owner_.calls.push_back("update " + attempt.target.name +
                             (draft.object == *draft.old ? " unchanged" : ""));
      return owner_.Add(decision);
    }
    std::optional<commit::Refusal> OnDelete(const Attempt& attempt, const codec::Value& /*old*/,
                                            commit::Decision& decision) override {
      owner_.calls.push_back("delete " + attempt.target.name);
      return owner_.Add(decision);
    }
    std::optional<std::string> Warning(const codec::Value& /*object*/) override {
      return "a warning";
    }
    void OnAnswer() override { owner_.calls.emplace_back("answer"); }

   private:
    RecordingHooks& owner_;
  };

  std::shared_ptr<WriteHooks> Begin(const Target& /*target*/,
                                    const CommonOptions& /*options*/) override {
    return std::make_shared<Write>(*this);
  }
  bool Exists(const state::Object& /*object*/) const override { return exists; }

  std::optional<commit::Refusal> Add(commit::Decision& decision) {
    if (refusal) return commit::Refusal(*refusal);
    for (const std::string& key : puts) decision.puts.push_back({.key = key, .stored = "x"});
    return std::nullopt;
  }

  std::vector<std::string> calls;
  std::vector<std::string> puts;
  std::optional<base::Error> refusal;
  bool exists = true;
};

class HooksTest : public ::testing::Test {
 protected:
  HooksTest() {
    store_.Open();
    follower_.emplace(*store_.engine, resources_, std::vector<state::Listener*>(),
                      state::FollowerOptions(), store_.clock, store_.log);
    sequencer_.emplace(
        commit::SequencerParts{*store_.engine, *follower_, resources_, store_.clock, *follower_},
        commit::SequencerOptions());
    table_.Add(*kinds_.FindRow(api::kNamespaceKind), hooks_);
    registry_.emplace(
        kinds_, resources_, *sequencer_, table_, [] { return Settings(); }, store_.clock,
        base::SeededRandom(1));
    Pump();
  }

  void Pump() {
    while (follower_->Pump()) {
    }
  }
  Target At(const std::string& name) const {
    return {.served = *kinds_.Find("", "v1", "namespaces"), .name = name};
  }
  template <typename Begin>
  std::string Answer(const Begin& begin) {
    std::string text = "no answer";
    begin([&text](base::Result<Outcome> outcome) {
      static const char* const kinds[] = {"created", "updated", "deleted", "unchanged"};
      text = outcome ? kinds[static_cast<size_t>(outcome->written.kind)] : outcome.error().message;
      if (outcome) {
        for (const std::string& warning : outcome->warnings) text += ", " + warning;
      }
    });
    Pump();
    return text;
  }
  std::string Create(const std::string& name, const CommonOptions& options = {}) {
    return Answer([&](Done done) {
      registry_->Create(At(name), codec::Object{{"metadata", codec::Object{{"name", name}}}},
                        options, std::move(done));
    });
  }
  std::string Patch(const std::string& name, const std::string& label) {
    return Answer([&](Done done) {
      registry_->Update(
          At(name), {.way = Way::kPatch},
          [label](const codec::Value* current) -> base::Result<Next> {
            Next next{.object = *current};
            if (!label.empty()) codec::SetAt(next.object, {"metadata", "labels", "l"}, label);
            return next;
          },
          {}, std::move(done));
    });
  }
  bool IsStored(const std::string& key) const {
    const auto entry = store::GetNow(*store_.engine, key);
    return entry && entry->has_value();
  }

  state::testing::TestStore store_;
  const Kinds kinds_;
  const state::Resources resources_ = kinds_.MakeResources();
  RecordingHooks hooks_;
  HookTable table_;
  std::optional<state::Follower> follower_;
  std::optional<commit::Sequencer> sequencer_;
  std::optional<Registry> registry_;
};

TEST_F(HooksTest, AddToTheDecisionAndCompleteTheObject) {
  hooks_.puts = {"/registry/other"};
  EXPECT_EQ(Create("a"), "created, a warning");
  EXPECT_THAT(hooks_.calls, ElementsAre("begin", "create a", "answer"));
  EXPECT_TRUE(IsStored("/registry/other"));
  const auto stored = follower_->Current()->Find("/registry/namespaces/a");
  ASSERT_NE(stored, nullptr);
  std::string json;
  stored->AppendJson(json);
  EXPECT_THAT(json, HasSubstr(R"("by":"hook")"));
}

TEST_F(HooksTest, ARefusalIsTheAnswer) {
  hooks_.refusal = base::Error{.reason = base::Reason::kForbidden, .message = "not now"};
  EXPECT_EQ(Create("a"), "not now");
  EXPECT_EQ(follower_->Current()->Find("/registry/namespaces/a"), nullptr);
  EXPECT_EQ(hooks_.calls.back(), "answer");
}

TEST_F(HooksTest, AnUpdateThatChangesNothingIsNotWrittenUnlessHooksAddSomething) {
  Create("a");
  hooks_.calls.clear();
  EXPECT_EQ(Patch("a", ""), "unchanged, a warning");
  EXPECT_THAT(hooks_.calls, ElementsAre("update a unchanged", "answer"));
  hooks_.puts = {"/registry/other"};
  EXPECT_EQ(Patch("a", ""), "updated, a warning");
  EXPECT_TRUE(IsStored("/registry/other"));
}

TEST_F(HooksTest, ADryRunAsksThemAndWritesNothing) {
  hooks_.puts = {"/registry/other"};
  EXPECT_EQ(Create("a", {.dry_run = true}), "created, a warning");
  EXPECT_FALSE(IsStored("/registry/other"));
}

TEST_F(HooksTest, AStoredObjectThatDoesNotCountIsReplaced) {
  Create("a");
  EXPECT_THAT(Create("a"), HasSubstr("already exists"));
  hooks_.exists = false;
  EXPECT_EQ(Create("a"), "created, a warning");
}

TEST_F(HooksTest, OtherKindsAreWrittenWithoutThem) {
  Create("a");
  hooks_.calls.clear();
  const Target lease{.served = *kinds_.Find("coordination.k8s.io", "v1", "leases"),
                     .name_space = "a",
                     .name = "l"};
  EXPECT_EQ(Answer([&](Done done) {
              registry_->Create(
                  lease,
                  codec::Object{{"metadata", codec::Object{{"name", "l"}, {"namespace", "a"}}},
                                {"spec", codec::Object{}}},
                  {}, std::move(done));
            }),
            "created");
  EXPECT_THAT(hooks_.calls, IsEmpty());
}

}  // namespace
}  // namespace berth::registry
