// The pure mappings: revisions, keys, the marker, and the table of known revisions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/etcd/known.h"
#include "store/etcd/marker.h"
#include "store/etcd/opening.h"
#include "store/etcd/revisions.h"

namespace berth::store::etcd {
namespace {

using ::testing::HasSubstr;

TEST(Revisions, ARevisionIsBasePlusModAndSlot) {
  const Revisions plain(Revision{0});
  EXPECT_EQ(plain.At(1, 0).value, 4096);
  EXPECT_EQ(plain.At(7, 2048).value, 7 * 4096 + 2048);
  EXPECT_EQ(plain.Head(7).value, 8 * 4096 - 1);
  const Revisions moved(Revision{1'000'000'000'000});
  EXPECT_EQ(moved.At(7, 3).value, 1'000'000'000'000 + int64_t{7} * 4096 + 3);
  EXPECT_EQ(moved.Of(moved.At(7, 3)), (EventPosition{.mod = 7, .slot = 3}));
}

TEST(Revisions, WhatLiesBeforeTheStoreHasNoPlace) {
  const Revisions revisions(Revision{50'000});
  for (const int64_t before : {0, 1, 49'999, 50'000, 50'000 + 4095}) {
    EXPECT_EQ(revisions.Of({before}), EventPosition{}) << before;
    EXPECT_EQ(revisions.FirstAfter({before}), 1) << before;
    EXPECT_EQ(revisions.LastWithin({before}), 0) << before;
  }
}

TEST(Revisions, RoundTripsAndKeepsOrder) {
  const uint64_t seed = base::TestSeed(1);
  SCOPED_TRACE(::testing::Message() << "BERTH_SEED=" << seed);
  base::SeededRandom random(seed);
  for (int64_t i = 0; i < base::LongCount(100'000); ++i) {
    const Revisions revisions({static_cast<int64_t>(base::Uniform(random, uint64_t{1} << 60))});
    const EventPosition a{.mod = 1 + static_cast<int64_t>(base::Uniform(random, uint64_t{1} << 40)),
                          .slot = static_cast<int>(base::Uniform(random, 4096))};
    const EventPosition b{.mod = a.mod + static_cast<int64_t>(base::Uniform(random, 2)),
                          .slot = static_cast<int>(base::Uniform(random, 4096))};
    const Revision ra = revisions.At(a.mod, a.slot);
    const Revision rb = revisions.At(b.mod, b.slot);
    ASSERT_EQ(revisions.Of(ra), a);
    ASSERT_EQ(ra < rb, std::pair(a.mod, a.slot) < std::pair(b.mod, b.slot));
    // Events after it are in the revision returned, or later.
    ASSERT_EQ(revisions.FirstAfter(ra), a.slot == 4095 ? a.mod + 1 : a.mod);
    ASSERT_EQ(revisions.LastWithin(ra), revisions.FirstAfter(ra) - 1);
  }
}

TEST(KeyMap, TheFirstPartIsReplaced) {
  const KeyMap keys("/berth/prod");
  EXPECT_EQ(keys.ToEtcd("/registry/services/specs/a/b"), "/berth/prod/services/specs/a/b");
  EXPECT_EQ(keys.ToCaller("/berth/prod/services/specs/a/b"), "/registry/services/specs/a/b");
  EXPECT_EQ(KeyMap("/registry").ToEtcd("/registry/x"), "/registry/x");
  EXPECT_TRUE(KeyMap::Covers("/registry/x"));
  for (const char* other : {"/registry", "/registry/", "/registryx", "x", ""}) {
    EXPECT_FALSE(KeyMap::Covers(other)) << other;
  }
}

TEST(KeyMap, APrefixBecomesARange) {
  const KeyMap keys("/p");
  const auto range = [&](std::string_view prefix, std::string_view after = "") {
    const auto found = keys.Within(prefix, after);
    return found ? fmt::format("{} {}", found->begin, found->end) : "nothing";
  };
  EXPECT_EQ(range("/registry/a/"), "/p/a/ /p/a0");
  EXPECT_EQ(range("/registry/a\xff"), "/p/a\xff /p/b");
  EXPECT_EQ(range("/registry/a/", "/registry/a/k"), std::string("/p/a/k\0 /p/a0", 13));
  // A start before the prefix changes nothing, and a start after it leaves an empty range.
  EXPECT_EQ(range("/registry/b/", "/registry/a"), "/p/b/ /p/b0");
  EXPECT_EQ(range("/registry/b/", "/registry/c"), "nothing");
  // A prefix shorter than the store's own covers all of the store.
  for (const char* shorter : {"", "/", "/reg", "/registry", "/registry/"}) {
    EXPECT_EQ(range(shorter), "/p/ /p0") << shorter;
  }
  EXPECT_EQ(range("/other"), "nothing");
  EXPECT_EQ(range("", "/a"), "/p/ /p0");
  EXPECT_EQ(range("", "/s"), "nothing");
}

TEST(KeyMap, TheEndOfAPrefix) {
  EXPECT_EQ(PrefixEnd("a"), "b");
  EXPECT_EQ(PrefixEnd("a\xff\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff"), std::string(1, '\0'));
}

TEST(Marker, IsTextThatAPersonCanRead) {
  const Marker marker{.base = {281'474'976'710'656}};
  EXPECT_EQ(MarkerText(marker), "format=1\nmode=exclusive\nrevisionBase=281474976710656\n");
  EXPECT_EQ(ParseMarker(MarkerText(marker)).value(), marker);
  // The order, a missing newline at the end, and a line of older markers do not matter.
  EXPECT_EQ(
      ParseMarker("ClusterIPAllocatorAPI=true\nmode=exclusive\n\nrevisionBase=5\nformat=1").value(),
      (Marker{.base = {5}}));
}

TEST(Marker, WhatItDoesNotUnderstandItRefuses) {
  const std::string good = MarkerText({});
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    return ParseMarker(text.replace(text.find(from), from.size(), to)).error().message;
  };
  EXPECT_THAT(with("format=1", "format=2"), HasSubstr("format \"2\", this Berth reads format 1"));
  EXPECT_THAT(with("exclusive", "shared"), HasSubstr("mode \"shared\""));
  EXPECT_THAT(with("Base=0", "Base=-1"), HasSubstr("revisionBase \"-1\""));
  EXPECT_THAT(with("Base=0", "Base=9223372036854775807"), HasSubstr("not a revision"));
  EXPECT_THAT(with("Base=0", "Base=0x"), HasSubstr("not a revision"));
  EXPECT_THAT(with("Base=0", "Base=0\nClusterIPAllocatorAPI=yes"),
              HasSubstr("neither true nor false"));
  EXPECT_THAT(with("Base=0", "Base=0\nNewThing=1"), HasSubstr("newer version is needed"));
  EXPECT_THAT(with("mode=exclusive\n", ""), HasSubstr("no line mode="));
  EXPECT_THAT(with("mode=", "format=1\nmode="), HasSubstr("says \"format\" twice"));
  EXPECT_THAT(ParseMarker("").error().message, HasSubstr("no line format="));
  EXPECT_THAT(ParseMarker("hello").error().message, HasSubstr("not of the form"));
  EXPECT_THAT(ParseMarker(std::string(5000, 'x')).error().message, HasSubstr("5000 bytes"));
}

TEST(Known, RemembersPairsAndNothingElse) {
  KnownRevisions known(1024, 7);
  known.Note("/registry/a", {5});
  EXPECT_TRUE(known.Has("/registry/a", {5}));
  EXPECT_FALSE(known.Has("/registry/a", {6}));
  EXPECT_FALSE(known.Has("/registry/b", {5}));
  // A full table forgets pairs, but never mistakes one pair for another.
  for (int64_t i = 0; i < 100'000; ++i) known.Note(fmt::format("/registry/{}", i), {i + 10});
  int remembered = 0;
  for (int64_t i = 0; i < 100'000; ++i) {
    const std::string key = fmt::format("/registry/{}", i);
    if (known.Has(key, {i + 10})) ++remembered;
    EXPECT_FALSE(known.Has(key, {i + 11}));
  }
  EXPECT_GE(remembered, 1000);
}

TEST(Options, BadOnesAreExplained) {
  const auto why = [](const EtcdOptions& options) {
    const auto error = CheckOptions(options);
    return error ? error->message : "";
  };
  EXPECT_EQ(why({}), "");
  EXPECT_EQ(why({.prefix = "/berth/a"}), "");
  for (const char* prefix : {"", "/", "registry", "/registry/"}) {
    EXPECT_THAT(why({.prefix = prefix}), HasSubstr("--etcd-prefix")) << prefix;
  }
  EXPECT_THAT(why({.max_txn_ops = 3}), HasSubstr("--etcd-max-txn-ops must be at least 8"));
  EXPECT_NE(why({.max_in_flight = 0}), "");
  EXPECT_NE(why({.base = {-1}}), "");
}

}  // namespace
}  // namespace berth::store::etcd
