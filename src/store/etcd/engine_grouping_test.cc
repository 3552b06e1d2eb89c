// Which transactions share an etcd Txn, and that sharing changes nothing: random groups are
// compared with the same transactions one after the other, on a model of etcd's Txn.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/etcd/events.h"
#include "store/etcd/grouping.h"
#include "store/etcd/testing/fake_etcd.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using contract::MakeValue;
using contract::Payload;
using testing::FakeEtcd;
using ::testing::HasSubstr;

/// The suite's codec, with fixed slots for keys named .../fixedN: 2040 + N.
SlotCodec CodecWithFixed() {
  const SlotCodec plain = contract::TestSlotCodec();
  const auto fixed = [](std::string_view key) {
    const size_t at = key.find("/fixed");
    return at == std::string_view::npos ? -1 : 2040 + (key[at + 6] - '0');
  };
  return {.write =
              [=](std::string_view key, std::string& value, int slot) {
                return fixed(key) >= 0 ? fixed(key) : plain.write(key, value, slot);
              },
          .read =
              [=](std::string_view key, std::string_view value) {
                return fixed(key) >= 0 ? fixed(key) : plain.read(key, value);
              }};
}

Layout MakeLayout(size_t max_txn_ops = 128) {
  return {.keys = KeyMap("/registry"),
          .revisions = Revisions(Revision{1000}),
          .slots = CodecWithFixed(),
          .max_txn_ops = max_txn_ops};
}

Envelope MakeEnvelope() {
  return {.marker_key = "/registry/berth.io/mode",
          .marker_mod = 0,
          .epoch_key = "/registry/berth.io/fence/process/x",
          .epoch_mod = 0,
          .receipt_key = "/registry/berth.io/fence/process/x/0",
          .receipt = "1"};
}

std::string Key(std::string_view name) { return fmt::format("/registry/t/{}", name); }
Put PutOf(std::string_view name, std::string_view payload = "v") {
  return {.key = Key(name), .value = MakeValue(payload)};
}

/// Adds a transaction whose compares all require absence or always fail.
Group::Added Add(Group& group, const Txn& txn) {
  std::vector<int64_t> mods;
  for (const Compare& compare : txn.compares) mods.push_back(compare.revision ? kNeverMod : 0);
  return group.Add(txn, ShapeOf(txn), std::move(mods), {});
}

TEST(Grouping, OnlyThoseThatDoNotMeetShare) {
  const Layout layout = MakeLayout();
  const Txn first{
      .compares = {{.key = Key("compared")}}, .puts = {PutOf("put")}, .deletes = {Key("deleted")}};
  const auto with_first = [&](const Txn& second) {
    Group group(layout);
    EXPECT_EQ(Add(group, first), Group::Added::kYes);
    return Add(group, second) == Group::Added::kYes;
  };
  EXPECT_TRUE(with_first({.puts = {PutOf("other")}}));
  EXPECT_TRUE(with_first({.compares = {{.key = Key("compared")}}, .puts = {PutOf("other")}}));
  EXPECT_FALSE(with_first({.puts = {PutOf("put")}}));
  EXPECT_FALSE(with_first({.deletes = {Key("put")}}));
  EXPECT_FALSE(with_first({.puts = {PutOf("deleted")}}));
  EXPECT_FALSE(with_first({.deletes = {Key("deleted")}}));
  EXPECT_FALSE(with_first({.puts = {PutOf("compared")}}));
  EXPECT_FALSE(with_first({.deletes = {Key("compared")}}));
  EXPECT_FALSE(with_first({.compares = {{.key = Key("put")}}}));
  EXPECT_FALSE(with_first({.compares = {{.key = Key("deleted")}}}));
}

TEST(Grouping, LeasesTravelAlone) {
  const Layout layout = MakeLayout();
  Txn brief{.puts = {PutOf("brief")}};
  brief.puts[0].ttl = std::chrono::seconds(9);
  const TxnLeases leases = {{std::chrono::seconds(9), Lease{.id = 77, .end = {}}}};
  const Txn plain{.puts = {PutOf("plain")}};
  Group first(layout);
  EXPECT_EQ(first.Add(brief, ShapeOf(brief), {}, leases), Group::Added::kYes);
  EXPECT_TRUE(first.Full());
  EXPECT_EQ(Add(first, plain), Group::Added::kNoRoom);
  EXPECT_EQ(first.TakeRequest(MakeEnvelope()).success(1).request_put().lease(), 77);
  Group second(layout);
  EXPECT_EQ(Add(second, plain), Group::Added::kYes);
  EXPECT_EQ(second.Add(brief, ShapeOf(brief), {}, leases), Group::Added::kNoRoom);
}

TEST(Grouping, AGroupFillsWhatEtcdTakes) {
  const Layout layout = MakeLayout();
  std::vector<Txn> txns;
  for (int i = 0; i < 200; ++i) {
    const std::string key = Key(std::to_string(i));
    txns.push_back({.compares = {{.key = key}, {.key = key + "b"}, {.key = key + "c"}},
                    .puts = {{.key = key, .value = MakeValue("x")}}});
  }
  Group group(layout);
  size_t taken = 0;
  while (!group.Full() && Add(group, txns[taken]) == Group::Added::kYes) ++taken;
  // The 124 transactions, the receipt, and the three compares of one of them make 128.
  EXPECT_EQ(taken, 124U);
  FakeEtcd etcd(128);
  const auto response = etcd.Txn(group.TakeRequest(MakeEnvelope()));
  ASSERT_TRUE(response) << response.error();
  EXPECT_TRUE(response->succeeded());
}

TEST(Grouping, OneThatComparesMuchFindsNoRoomInAGroupOfMany) {
  const Layout layout = MakeLayout();
  std::vector<Txn> narrow;
  for (int i = 0; i < 100; ++i) narrow.push_back({.puts = {PutOf(std::to_string(i))}});
  Txn wide;
  for (int i = 0; i < 27; ++i) wide.compares.push_back({.key = Key(fmt::format("wide{}", i))});
  Group group(layout);
  for (const Txn& txn : narrow) ASSERT_EQ(Add(group, txn), Group::Added::kYes);
  // A hundred transactions, this one and the receipt leave 26 of 128.
  EXPECT_EQ(Add(group, wide), Group::Added::kNoRoom);
  wide.compares.pop_back();
  EXPECT_EQ(Add(group, wide), Group::Added::kYes);
  FakeEtcd etcd(128);
  EXPECT_TRUE(etcd.Txn(group.TakeRequest(MakeEnvelope())));
}

TEST(Grouping, AGroupHasAByteLimit) {
  const Layout layout = MakeLayout();
  const std::string big(500'000, 'x');
  const std::vector<Txn> txns = {
      {.puts = {PutOf("a", big)}}, {.puts = {PutOf("b", big)}}, {.puts = {PutOf("c", big)}}};
  Group group(layout);
  EXPECT_EQ(Add(group, txns[0]), Group::Added::kYes);
  EXPECT_EQ(Add(group, txns[1]), Group::Added::kYes);
  EXPECT_EQ(Add(group, txns[2]), Group::Added::kNoRoom);
}

TEST(Grouping, ALargeOneIsSpreadOrRefused) {
  const Layout layout = MakeLayout();
  Txn large;
  for (int i = 0; i < 100; ++i) large.compares.push_back({.key = Key(fmt::format("c{}", i))});
  for (size_t i = 0; i < kMaxPuts; ++i) large.puts.push_back(PutOf(std::to_string(i)));
  for (int i = 0; i < 100; ++i) large.deletes.push_back(Key(fmt::format("d{}", i)));
  Group group(layout);
  ASSERT_EQ(Add(group, large), Group::Added::kYes);
  EXPECT_EQ(Add(group, {.puts = {PutOf("one more")}}), Group::Added::kNoRoom);
  FakeEtcd etcd(128);
  const auto response = etcd.Txn(group.TakeRequest(MakeEnvelope()));
  ASSERT_TRUE(response) << response.error();
  const Unpacked unpacked = group.Unpack(*response, MakeEnvelope());
  ASSERT_EQ(unpacked.kind, Unpacked::Kind::kDecided);
  const auto replies = group.Replies(response->header().revision(), unpacked.members);
  ASSERT_EQ(replies[0]->puts.size(), kMaxPuts);
  EXPECT_TRUE(std::is_sorted(replies[0]->puts.begin(), replies[0]->puts.end()));
  EXPECT_EQ(replies[0]->deletes, std::vector<Revision>(100));

  // Compares cannot be spread.
  for (int i = 0; i < 30; ++i) large.compares.push_back({.key = Key(fmt::format("e{}", i))});
  Group refuses(layout);
  ASSERT_EQ(Add(refuses, large), Group::Added::kNever);
  EXPECT_THAT(refuses.WhyNever().message, HasSubstr("--etcd-max-txn-ops=128"));
  EXPECT_EQ(refuses.WhyNever().reason, base::Reason::kRequestEntityTooLarge);
}

TEST(Grouping, WhatIsSureToFitFits) {
  for (const size_t max_txn_ops : {8U, 128U}) {
    const Layout layout = MakeLayout(max_txn_ops);
    Txn txn;
    for (size_t i = 0; i < SureItems(max_txn_ops); ++i) {
      txn.compares.push_back({.key = Key(fmt::format("c{}", i))});
      txn.puts.push_back(PutOf(std::to_string(i)));
    }
    Group group(layout);
    ASSERT_EQ(Add(group, txn), Group::Added::kYes);
    FakeEtcd etcd(max_txn_ops);
    const auto response = etcd.Txn(group.TakeRequest(MakeEnvelope()));
    ASSERT_TRUE(response) << response.error();
  }
}

TEST(Grouping, FixedSlotsComeLastAndOncePerGroup) {
  const Layout layout = MakeLayout();
  const Txn fixed{.puts = {PutOf("a"), PutOf("fixed3"), PutOf("fixed5")}};
  const Txn other_fixed{.puts = {PutOf("b"), PutOf("x/fixed3")}};
  const Txn plain{.puts = {PutOf("c"), PutOf("d")}};
  Group group(layout);
  EXPECT_EQ(Add(group, fixed), Group::Added::kYes);
  EXPECT_EQ(Add(group, other_fixed), Group::Added::kNoRoom);
  EXPECT_EQ(Add(group, plain), Group::Added::kYes);
  (void)group.TakeRequest(MakeEnvelope());
  // The plain one comes first, so that neither lies inside the other.
  EXPECT_EQ(group.Members()[1].slots, (std::vector<int>{0, 1}));
  EXPECT_EQ(group.Members()[0].slots, (std::vector<int>{2, 2043, 2045}));

  Group refuses(layout);
  EXPECT_EQ(Add(refuses, {.puts = {PutOf("fixed3"), PutOf("a")}}), Group::Added::kNever);
  EXPECT_EQ(Add(refuses, {.puts = {PutOf("fixed3"), PutOf("x/fixed3")}}), Group::Added::kNever);
  EXPECT_EQ(refuses.WhyNever().reason, base::Reason::kBadRequest);
}

TEST(Grouping, AChangedMarkerOrEpochIsTold) {
  const Layout layout = MakeLayout();
  const Txn a{.compares = {{.key = Key("a")}}, .puts = {PutOf("a")}};
  const Txn b{.puts = {PutOf("b")}};
  for (const bool alone : {true, false}) {
    Group group(layout);
    ASSERT_EQ(Add(group, a), Group::Added::kYes);
    ASSERT_TRUE(alone || Add(group, b) == Group::Added::kYes);
    FakeEtcd etcd;
    pb::TxnRequest put;
    put.add_success()->mutable_request_put()->set_key(MakeEnvelope().epoch_key);
    ASSERT_TRUE(etcd.Txn(put));
    const auto response = etcd.Txn(group.TakeRequest(MakeEnvelope()));
    ASSERT_TRUE(response);
    const Unpacked unpacked = group.Unpack(*response, MakeEnvelope());
    EXPECT_EQ(unpacked.kind, Unpacked::Kind::kEnvelope);
    EXPECT_FALSE(unpacked.marker);
    ASSERT_TRUE(unpacked.epoch);
    EXPECT_EQ(unpacked.epoch->mod_revision(), 2);
    EXPECT_EQ(etcd.Revision(), 2);
  }
}

TEST(Grouping, AnAnswerToSomethingElseIsNotTaken) {
  const Layout layout = MakeLayout();
  const Txn a{.compares = {{.key = Key("a")}}, .puts = {PutOf("a")}, .deletes = {Key("x")}};
  const Txn b{.puts = {PutOf("b")}};
  for (const bool alone : {true, false}) {
    Group group(layout);
    ASSERT_EQ(Add(group, a), Group::Added::kYes);
    ASSERT_TRUE(alone || Add(group, b) == Group::Added::kYes);
    pb::TxnResponse response;
    for (int ops = 0; ops < 6; ++ops) {
      for (const bool succeeded : {true, false}) {
        response.set_succeeded(succeeded);
        EXPECT_EQ(group.Unpack(response, MakeEnvelope()).kind, Unpacked::Kind::kMalformed);
      }
      response.add_responses()->mutable_response_put();
    }
  }
}

// --- Random groups compared with serial execution ------------------------------------------------

/// A transaction whose compares do not have revisions yet.
struct TxnDraft {
  enum class Expect : uint8_t { kWhatIsThere, kAbsence, kSomethingElse };
  std::vector<std::pair<std::string, Expect>> compares;
  std::vector<Put> puts;
  std::vector<std::string> deletes;
};

class Side {
 public:
  explicit Side(const Layout& layout) : layout_(layout), etcd_(layout.max_txn_ops) {}

  FakeEtcd& Etcd() { return etcd_; }

  Txn Concrete(const TxnDraft& draft) {
    Txn txn{.compares = {}, .puts = draft.puts, .deletes = draft.deletes};
    for (const auto& [key, expect] : draft.compares) {
      Revision revision;
      const auto entry = Get(key);
      if (expect == TxnDraft::Expect::kWhatIsThere && entry) revision = entry->revision;
      if (expect == TxnDraft::Expect::kSomethingElse) revision = layout_.revisions.At(1, 5);
      txn.compares.push_back({.key = key, .revision = revision});
    }
    return txn;
  }

  std::vector<int64_t> Mods(const Txn& txn) const {
    std::vector<int64_t> mods;
    for (const Compare& compare : txn.compares) {
      mods.push_back(layout_.revisions.Of(compare.revision).mod);
    }
    return mods;
  }

  std::optional<Entry> Get(const std::string& key) {
    pb::RangeRequest request;
    request.set_key(layout_.keys.ToEtcd(key));
    const auto response = etcd_.Range(request);
    if (response->kvs_size() == 0) return std::nullopt;
    return layout_.EntryOf(response->kvs(0));
  }

  std::map<std::string, std::string> State() {
    pb::RangeRequest request;
    request.set_key("/registry/t/");
    request.set_range_end("/registry/t0");
    std::map<std::string, std::string> state;
    const auto response = etcd_.Range(request);
    for (const pb::KeyValue& kv : response->kvs()) {
      state[kv.key()] = Payload(kv.value());
    }
    return state;
  }

  /// Runs a group and returns its replies.
  std::vector<std::optional<TxnReply>> Run(Group& group) {
    const auto response = etcd_.Txn(group.TakeRequest(MakeEnvelope()));
    EXPECT_TRUE(response) << response.error();
    if (!response) return {};
    const Unpacked unpacked = group.Unpack(*response, MakeEnvelope());
    EXPECT_EQ(unpacked.kind, Unpacked::Kind::kDecided);
    return group.Replies(response->header().revision(), unpacked.members);
  }

 private:
  const Layout& layout_;
  FakeEtcd etcd_;
};

TxnDraft RandomDraft(base::Random& random) {
  TxnDraft draft;
  const auto name = [&] { return fmt::format("k{}", base::Uniform(random, 40)); };
  std::set<std::string> compared;
  std::set<std::string> written;
  for (uint64_t n = base::Uniform(random, 4); n > 0; --n) {
    const std::string key = Key(name());
    const auto expect = base::Uniform(random, 8);
    if (!compared.insert(key).second) continue;
    draft.compares.emplace_back(key, expect == 0   ? TxnDraft::Expect::kSomethingElse
                                     : expect == 1 ? TxnDraft::Expect::kAbsence
                                                   : TxnDraft::Expect::kWhatIsThere);
  }
  for (uint64_t n = base::Uniform(random, 4); n > 0; --n) {
    const std::string key = name();
    if (!written.insert(key).second) continue;
    if (base::Uniform(random, 3) == 0) {
      draft.deletes.push_back(Key(key));
    } else {
      draft.puts.push_back(PutOf(key, std::to_string(random.Next())));
    }
  }
  if (base::Uniform(random, 10) == 0) draft.puts.push_back(PutOf("fixed1", "f"));
  return draft;
}

/// Describes the outcome without revisions.
std::string Summary(const Txn& txn, const TxnReply& reply) {
  std::string text = reply.outcome == Outcome::kCommitted ? "committed" : "conflict";
  for (const Revision& revision : reply.deletes) text += revision ? " deleted" : " nothing";
  for (const Conflict& conflict : reply.conflicts) {
    text += fmt::format(" {}={}", txn.compares[conflict.compare].key,
                        conflict.current ? Payload(conflict.current->value) : "absent");
  }
  return text;
}

/// Returns the revisions of a reply, in order.
std::vector<int64_t> RevisionsOf(const TxnReply& reply) {
  std::vector<int64_t> revisions;
  for (const Revision& revision : reply.puts) revisions.push_back(revision.value);
  for (const Revision& revision : reply.deletes) {
    if (revision) revisions.push_back(revision.value);
  }
  return revisions;
}

/// Checks that every event has the revision of the reply, and that no transaction of the group lies
/// inside another.
void ExpectEventsAsReplied(const Layout& layout, FakeEtcd& etcd, const std::vector<Txn>& txns,
                           const std::vector<std::optional<TxnReply>>& replies) {
  std::map<std::string, int64_t> replied;
  std::vector<std::vector<int64_t>> of_members;
  for (size_t i = 0; i < txns.size(); ++i) {
    if (replies[i]->outcome != Outcome::kCommitted) continue;
    for (size_t p = 0; p < txns[i].puts.size(); ++p) {
      replied[txns[i].puts[p].key] = replies[i]->puts[p].value;
    }
    for (size_t d = 0; d < txns[i].deletes.size(); ++d) {
      if (replies[i]->deletes[d]) replied[txns[i].deletes[d]] = replies[i]->deletes[d].value;
    }
    std::vector<int64_t> own = RevisionsOf(*replies[i]);
    ASSERT_TRUE(std::is_sorted(own.begin(), own.end()));
    if (!own.empty()) of_members.push_back(std::move(own));
  }
  std::sort(of_members.begin(), of_members.end());
  for (size_t i = 1; i < of_members.size(); ++i) {
    ASSERT_LT(of_members[i - 1].back(), of_members[i].front());
  }
  pb::WatchResponse response;
  for (pb::Event& event : etcd.Events(etcd.Revision(), "/registry/", "/registry0", true)) {
    *response.add_events() = std::move(event);
  }
  const Decoded decoded = Decode(layout, response, etcd.Revision() - 1);
  ASSERT_FALSE(decoded.foreign);
  std::map<std::string, int64_t> told;
  for (const Event& event : decoded.events) told[event.key] = event.revision.value;
  ASSERT_EQ(told, replied);
}

TEST(Grouping, AnyGroupIsItsMembersOneAfterTheOther) {
  const uint64_t seed = base::TestSeed(11);
  SCOPED_TRACE(::testing::Message() << "BERTH_SEED=" << seed);
  base::SeededRandom random(seed);
  const Layout layout = MakeLayout(24);
  std::optional<Side> sides[2];
  size_t shared = 0;
  for (int64_t round = 0; round < base::LongCount(20'000); ++round) {
    // The model keeps everything it has ever stored, so it is replaced now and then.
    if (round % 100 == 0) {
      for (auto& side : sides) side.emplace(layout);
    }
    Side& grouped = *sides[0];
    Side& serial = *sides[1];
    // The members point into a list that does not change.
    std::vector<TxnDraft> drafts(1 + base::Uniform(random, 25));
    std::vector<Txn> candidates;
    for (TxnDraft& draft : drafts) {
      draft = RandomDraft(random);
      candidates.push_back(grouped.Concrete(draft));
    }
    Group group(layout);
    std::vector<Txn> txns;
    std::vector<Txn> again;
    for (size_t i = 0; i < drafts.size(); ++i) {
      const Txn& txn = candidates[i];
      if (group.Add(txn, ShapeOf(txn), grouped.Mods(txn), {}) != Group::Added::kYes) continue;
      txns.push_back(txn);
      again.push_back(serial.Concrete(drafts[i]));
    }
    shared += txns.size();
    const int64_t before = grouped.Etcd().Revision();
    const auto replies = grouped.Run(group);
    ASSERT_EQ(replies.size(), txns.size());
    if (grouped.Etcd().Revision() > before) {
      ASSERT_NO_FATAL_FAILURE(ExpectEventsAsReplied(layout, grouped.Etcd(), txns, replies));
    }
    // The order does not matter.
    std::vector<size_t> order(txns.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[base::Uniform(random, i)]);
    }
    for (const size_t i : order) {
      Group alone(layout);
      ASSERT_EQ(alone.Add(again[i], ShapeOf(again[i]), serial.Mods(again[i]), {}),
                Group::Added::kYes);
      const auto reply = serial.Run(alone);
      ASSERT_TRUE(replies[i] && reply[0]);
      ASSERT_EQ(Summary(txns[i], *replies[i]), Summary(again[i], *reply[0])) << "round " << round;
    }
    ASSERT_EQ(grouped.State(), serial.State()) << "round " << round;
  }
  // The groups had more than a few members.
  EXPECT_GT(shared, static_cast<size_t>(3 * base::LongCount(20'000)));
}

}  // namespace
}  // namespace berth::store::etcd
