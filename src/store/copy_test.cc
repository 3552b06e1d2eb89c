#include "store/copy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/blocking.h"
#include "store/keys.h"
#include "store/memory_engine.h"

namespace berth::store {
namespace {

using namespace std::chrono_literals;
using base::Reason;
using ::testing::HasSubstr;

void PutWithTtl(Engine& engine, std::string key, std::string value, std::chrono::seconds ttl = 0s) {
  Txn txn;
  txn.puts.push_back({.key = std::move(key), .value = std::move(value), .ttl = ttl});
  ASSERT_EQ(CommitNow(engine, std::move(txn)).outcome, Outcome::kCommitted);
}

class CopyTest : public ::testing::Test {
 protected:
  std::unique_ptr<MemoryEngine> Engine(MemoryOptions options = {}) {
    return MemoryEngine::Make(std::move(options), clock_);
  }

  /// Returns a store with more than two thousand keys, some of them Berth's own.
  std::unique_ptr<MemoryEngine> Source() {
    auto engine = Engine();
    for (int i = 0; i < 1000; ++i) {
      PutWithTtl(*engine, fmt::format("/registry/services/specs/shop/web-{}", i),
                 std::to_string(i));
      PutWithTtl(*engine, fmt::format("/registry/ipaddresses/10.0.{}.{}", i / 256, i % 256), "ip");
    }
    PutWithTtl(*engine, "/registry/berth.io/fence/ipv4", "open");
    PutWithTtl(*engine, "/registry/berth.io/fence/ipv6", "open");
    PutWithTtl(*engine, "/registry/events/shop/e", "event", 3600s);
    PutWithTtl(*engine, "/registry/zz", std::string(1'399'900, 'x'));
    return engine;
  }

  base::ManualClock clock_;
};

std::vector<std::pair<std::string, std::string>> KeysAndValues(Engine& engine) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto page = ScanAll(engine, "/registry/");
  for (const Entry& entry : page->entries) all.emplace_back(entry.key, entry.value);
  return all;
}

TEST_F(CopyTest, CopiesEverythingAndProvesIt) {
  const auto source = Source();
  const auto target = Engine({.base = {5000}});
  const auto copied = CopyInto(*target, EntriesOf(*source), {.above = {5000}});
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(KeysAndValues(*target), KeysAndValues(*source));
  EXPECT_EQ(copied->source.Checksum(), copied->target.Checksum());
  EXPECT_EQ(copied->source.keys(), 2004);
  EXPECT_EQ(copied->source.expiring(), 1);
  EXPECT_EQ(copied->source_revision, CurrentNow(*source));
  EXPECT_EQ(copied->target_revision, CurrentNow(*target));
  EXPECT_GT(copied->target_revision, Revision{5000});
  EXPECT_EQ(UnfinishedCopy(*target), std::nullopt);
}

TEST_F(CopyTest, WhatExpiresGoesOnExpiring) {
  const auto source = Source();
  clock_.Advance(3000s);
  const auto target = Engine({.base = {5000}});
  ASSERT_TRUE(CopyInto(*target, EntriesOf(*source), {}).has_value());
  EXPECT_TRUE(GetNow(*target, "/registry/events/shop/e")->has_value());
  clock_.Advance(601s);
  EXPECT_FALSE(GetNow(*target, "/registry/events/shop/e")->has_value());
}

TEST_F(CopyTest, OldWatchesAreToldToStartOver) {
  const auto source = Source();
  const auto target = Engine({.base = *CurrentNow(*source)});
  ASSERT_TRUE(CopyInto(*target, EntriesOf(*source), {}).has_value());
  WatchReader watch(*target, {.prefix = "/registry/", .after = *CurrentNow(*source)});
  const auto events = watch.Next(1, std::chrono::steady_clock::now() + 10s);
  ASSERT_FALSE(events.has_value());
  EXPECT_EQ(events.error().reason, Reason::kExpired);
}

TEST_F(CopyTest, ATargetThatHoldsSomethingIsLeftAlone) {
  const auto source = Source();
  const auto target = Engine({.base = {5000}});
  PutWithTtl(*target, "/registry/services/specs/shop/other", "precious");
  PutWithTtl(*target, "/registry/namespaces/shop", "precious");
  PutWithTtl(*target, "/registry/namespaces/default", "precious");
  const auto before = KeysAndValues(*target);
  const auto copied = CopyInto(*target, EntriesOf(*source), {});
  ASSERT_FALSE(copied.has_value());
  EXPECT_EQ(copied.error().reason, Reason::kAlreadyExists);
  EXPECT_EQ(copied.error().message,
            "the target is not empty: it holds 3 keys (2 namespaces, 1 services)");
  EXPECT_EQ(KeysAndValues(*target), before);
}

TEST_F(CopyTest, ReplacesWhenTold) {
  const auto source = Source();
  const auto target = Engine({.base = {5000}});
  for (int i = 0; i < 1234; ++i) PutWithTtl(*target, fmt::format("/registry/old/{}", i), "old");
  PutWithTtl(*target, "/registry/services/specs/shop/web-1", "old");
  const auto copied = CopyInto(*target, EntriesOf(*source), {.replace = true});
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(copied->deleted, 1235);
  EXPECT_EQ(KeysAndValues(*target), KeysAndValues(*source));
}

TEST_F(CopyTest, ATargetWhoseRevisionsAreBehindIsLeftAlone) {
  const auto source = Source();
  const auto target = Engine();
  PutWithTtl(*target, "/registry/a/b", "precious");
  const auto copied = CopyInto(*target, EntriesOf(*source), {.above = {2000}, .replace = true});
  ASSERT_FALSE(copied.has_value());
  EXPECT_EQ(copied.error().reason, Reason::kConflict);
  EXPECT_THAT(copied.error().message, HasSubstr("must be above 2000"));
  EXPECT_EQ(KeysAndValues(*target).size(), 1u);
}

TEST_F(CopyTest, ValuesAreMovedAndComparedInOneForm) {
  const auto source = Engine();
  PutWithTtl(*source, "/registry/a/b", "value#17");
  PutWithTtl(*source, "/registry/a/c", "value#4");
  const auto target = Engine({.base = {5000}});
  const CopyOptions options{.normalise = [](std::string_view, std::string& value) {
    value = value.substr(0, value.find('#'));
  }};
  ASSERT_TRUE(CopyInto(*target, EntriesOf(*source), options).has_value());
  EXPECT_EQ(GetNow(*target, "/registry/a/b").value()->value, "value");
}

TEST_F(CopyTest, AFailureLeavesANoteThatKeepsOthersOff) {
  const auto source = Source();
  int commits = 0;
  const auto target = Engine({.base = {5000}, .fault = [&](const Txn&) {
                                return ++commits == 7 ? Fault::kFail : Fault::kNone;
                              }});
  const auto copied = CopyInto(*target, EntriesOf(*source), {.note = "from here"});
  ASSERT_FALSE(copied.has_value());
  EXPECT_EQ(UnfinishedCopy(*target), "from here");
  const auto third = Engine({.base = {90'000}});
  EXPECT_EQ(CopyInto(*third, EntriesOf(*target), {}).error().message,
            "the source is incomplete: it holds an unfinished copy (from here)");
  const auto again = CopyInto(*target, EntriesOf(*source), {});
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().message, HasSubstr("of an unfinished copy (from here)"));
  ASSERT_TRUE(CopyInto(*target, EntriesOf(*source), {.replace = true}).has_value());
  EXPECT_EQ(KeysAndValues(*target), KeysAndValues(*source));
  EXPECT_EQ(UnfinishedCopy(*target), std::nullopt);
}

TEST_F(CopyTest, AnyCommitMayFailAndNothingPassesForACopy) {
  const auto source = Engine();
  for (int i = 0; i < 250; ++i) PutWithTtl(*source, fmt::format("/registry/a/{}", i), "v");
  for (const Fault fault : {Fault::kFail, Fault::kLoseReply, Fault::kLoseWrite}) {
    for (int failing = 1;; ++failing) {
      ASSERT_LT(failing, 50);
      int commits = 0;
      const auto target = Engine({.base = {5000}, .fault = [&](const Txn&) {
                                    return ++commits == failing ? fault : Fault::kNone;
                                  }});
      const auto copied = CopyInto(*target, EntriesOf(*source), {});
      if (commits < failing) {
        EXPECT_TRUE(copied.has_value());
        break;
      }
      EXPECT_FALSE(copied.has_value()) << "commit " << failing;
    }
  }
}

TEST_F(CopyTest, SomebodyElseInTheTargetEndsIt) {
  const auto source = Source();
  std::unique_ptr<MemoryEngine> target = Engine({.base = {5000}});
  bool first = true;
  const CopyOptions options{.progress = [&](const CopyProgress& progress) {
    if (progress.phase != CopyPhase::kCopying || !std::exchange(first, false)) return;
    PutWithTtl(*target, "/registry/services/specs/shop/web-99", "mine");
  }};
  const auto copied = CopyInto(*target, EntriesOf(*source), options);
  ASSERT_FALSE(copied.has_value());
  EXPECT_EQ(copied.error().reason, Reason::kConflict);
  EXPECT_THAT(copied.error().message, HasSubstr("\"/registry/services/specs/shop/web-99\""));
}

TEST_F(CopyTest, WhatSomebodyElseAddedIsFoundByTheComparison) {
  const auto source = Source();
  std::unique_ptr<MemoryEngine> target = Engine({.base = {5000}});
  bool first = true;
  const CopyOptions options{.progress = [&](const CopyProgress& progress) {
    if (progress.phase != CopyPhase::kCopying || !std::exchange(first, false)) return;
    PutWithTtl(*target, "/registry/zzz/a", "mine");
  }};
  const auto copied = CopyInto(*target, EntriesOf(*source), options);
  ASSERT_FALSE(copied.has_value());
  EXPECT_THAT(copied.error().message, HasSubstr("the copy is not equal to its source: 2004 keys"));
  EXPECT_NE(UnfinishedCopy(*target), std::nullopt);
}

TEST_F(CopyTest, TransactionsAreBounded) {
  const auto source = Source();
  size_t most = 0;
  size_t own_together = 0;
  const auto target = Engine({.base = {5000}, .fault = [&](const Txn& txn) {
                                most = std::max({most, txn.puts.size(), txn.deletes.size()});
                                const bool own = std::ranges::any_of(txn.puts, [](const Put& put) {
                                  return put.key.starts_with(kOwnPrefix);
                                });
                                if (own) own_together = std::max(own_together, txn.puts.size());
                                return Fault::kNone;
                              }});
  ASSERT_TRUE(CopyInto(*target, EntriesOf(*source), {.txn_puts = 30}).has_value());
  EXPECT_EQ(most, 30);
  EXPECT_EQ(own_together, 1);
}

TEST_F(CopyTest, ASnapshotIsASource) {
  const auto source = Source();
  const std::string path = ::testing::TempDir() + fmt::format("copy_test_{}", getpid());
  ASSERT_TRUE(SaveSnapshotFile(*source, path, {}, clock_).has_value());
  const auto target = Engine({.base = {5000}});
  const auto copied = CopyInto(*target, EntriesOfSnapshot(path), {});
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(KeysAndValues(*target), KeysAndValues(*source));
  EXPECT_EQ(copied->source_revision, CurrentNow(*source));
}

}  // namespace
}  // namespace berth::store
