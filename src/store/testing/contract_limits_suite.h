// The contract at its limits: the smallest and largest keys, values and transactions. Anything
// beyond them is refused with the right reason and changes nothing.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/keys.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

class ContractLimits : public Contract {
 protected:
  static Txn PutOf(std::string key, std::string value) {
    return {.puts = {{.key = std::move(key), .value = std::move(value)}}};
  }

  /// Returns a value with which a transaction of this single put has `bytes` bytes.
  static std::string ValueFor(const std::string& key, size_t bytes) {
    std::string value = MakeValue("");
    for (size_t i = 0; value.size() < bytes - kTxnItemBytes - key.size(); ++i) {
      value.push_back(static_cast<char>(i * 31 >> 3));
    }
    return value;
  }
};

TEST_P(ContractLimits, KeysOfEveryLengthAndByte) {
  std::string every;
  for (int byte = 1; byte <= 0xff; ++byte) every.push_back(static_cast<char>(byte));
  std::string longest = Key("long/");
  longest.resize(kMaxKeyBytes, 'x');
  for (const std::string& key : {Key("1"), Key("\xff"), Key("\x01"), Key(every), longest}) {
    const Revision revision = MustPut(key, "value of " + key);
    EXPECT_EQ(Get(key), (Item{key, "value of " + key, revision.value}));
    EXPECT_EQ(Items(key).size(), 1U);
  }
  ExpectAsModel();
  for (const Item& item : model_.Items(kAll)) {
    EXPECT_TRUE(MustDelete(item.key)) << item.key;
  }
  ExpectAsModel();
}

TEST_P(ContractLimits, KeysBeyondThemAreRefused) {
  std::string longer = Key("");
  longer.resize(kMaxKeyBytes + 1, 'x');
  const std::string with_nul = Key(std::string_view("a\0b", 3));
  for (const std::string& key : {std::string(), longer, with_nul}) {
    EXPECT_EQ(ReasonOfRefusal(PutOf(key, MakeValue("x"))), base::Reason::kBadRequest);
    EXPECT_EQ(ReasonOfRefusal({.deletes = {key}}), base::Reason::kBadRequest);
    EXPECT_EQ(ReasonOfRefusal({.compares = {{.key = key}}}), base::Reason::kBadRequest);
    EXPECT_EQ(ReasonOf(GetNow(engine(), key)), base::Reason::kBadRequest);
  }
  ExpectAsModel();
}

TEST_P(ContractLimits, TheStoresOwnKeysAreNobodyElses) {
  for (const std::string_view own : {kMarkerKey, kCompactKey, kTickKey}) {
    const std::string key(own);
    EXPECT_EQ(ReasonOfRefusal(PutOf(key, MakeValue("x"))), base::Reason::kBadRequest);
    EXPECT_EQ(ReasonOfRefusal({.deletes = {key}}), base::Reason::kBadRequest);
    EXPECT_EQ(ReasonOfRefusal({.compares = {{.key = key}}}), base::Reason::kBadRequest);
    EXPECT_EQ(Get(key), std::nullopt);
  }
  const std::string fence = std::string(kProcessFencePrefix) + "somebody";
  EXPECT_EQ(ReasonOfRefusal(PutOf(fence, MakeValue("x"))), base::Reason::kBadRequest);
  EXPECT_EQ(Items(kOwnPrefix), std::vector<Item>{});
  // Other keys with the same prefix are ordinary keys.
  MustPut(std::string(kOwnPrefix) + "replicas/one", "here");
  EXPECT_EQ(Items(kOwnPrefix), model_.Items(kOwnPrefix));
  EXPECT_EQ(EventsOf(kOwnPrefix, Start()), model_.Events());
}

TEST_P(ContractLimits, AKeyIsWrittenAndComparedOnce) {
  const std::string a = Key("a");
  const Put put{.key = a, .value = MakeValue("x")};
  EXPECT_EQ(ReasonOfRefusal({.puts = {put, put}}), base::Reason::kBadRequest);
  EXPECT_EQ(ReasonOfRefusal({.puts = {put}, .deletes = {a}}), base::Reason::kBadRequest);
  EXPECT_EQ(ReasonOfRefusal({.deletes = {a, a}}), base::Reason::kBadRequest);
  EXPECT_EQ(ReasonOfRefusal({.compares = {{.key = a}, {.key = a}}, .puts = {put}}),
            base::Reason::kBadRequest);
  ExpectAsModel();
}

TEST_P(ContractLimits, ValuesAreAnyBytesAndMayBeEmpty) {
  std::string every;
  for (int byte = 0; byte <= 0xff; ++byte) every.push_back(static_cast<char>(byte));
  MustPut(Key("bytes"), every);
  MustPut(Key("empty"), "");
  EXPECT_EQ(Get(Key("bytes"))->payload, every);
  EXPECT_EQ(Get(Key("empty"))->payload, "");
  ExpectAsModel();
}

TEST_P(ContractLimits, ABigValueGoesAllTheWay) {
  const std::string key = Key("big");
  const std::string value = ValueFor(key, kMaxTxnBytes);
  const Revision first = MustPut(key, Payload(value));
  EXPECT_EQ(Get(key), (Item{key, Payload(value), first.value}));
  EXPECT_EQ(Items(kAll), model_.Items(kAll));
  // It is also complete as the current entry of a conflict and as the previous entry of an event.
  const TxnReply conflict = CommitNow(engine(), {.compares = {{.key = key}}, .deletes = {key}});
  ASSERT_EQ(conflict.outcome, Outcome::kConflict);
  ASSERT_EQ(conflict.conflicts.size(), 1U);
  EXPECT_EQ(ToItem(*conflict.conflicts[0].current), (Item{key, Payload(value), first.value}));
  MustDelete(key);
  ExpectAsModel();
}

TEST_P(ContractLimits, ATransactionTooLargeIsRefused) {
  const std::string key = Key("big");
  EXPECT_EQ(ReasonOfRefusal(PutOf(key, ValueFor(key, kMaxTxnBytes + 1))),
            base::Reason::kRequestEntityTooLarge);

  Txn puts;
  for (size_t i = 0; i <= kMaxPuts; ++i) {
    puts.puts.push_back({.key = Key("", i), .value = MakeValue("")});
  }
  EXPECT_EQ(ReasonOfRefusal(puts), base::Reason::kRequestEntityTooLarge);
  Txn deletes;
  for (size_t i = 0; i <= kMaxDeletes; ++i) deletes.deletes.push_back(Key("", i));
  EXPECT_EQ(ReasonOfRefusal(deletes), base::Reason::kRequestEntityTooLarge);
  Txn compares;
  for (size_t i = 0; i <= kMaxCompares; ++i) {
    compares.compares.push_back({.key = Key("", i)});
  }
  EXPECT_EQ(ReasonOfRefusal(compares), base::Reason::kRequestEntityTooLarge);
  ExpectAsModel();
}

TEST_P(ContractLimits, ScansOutOfBoundsAreRefused) {
  const std::string prefix(kAll);
  MustPut(Key("a"), "a");
  const auto reason = [this](ScanRequest request) {
    return ReasonOf(ScanPageNow(engine(), std::move(request)));
  };
  EXPECT_EQ(reason({.prefix = prefix, .limit = 0}), base::Reason::kBadRequest);
  EXPECT_EQ(reason({.prefix = prefix, .limit = kMaxPageEntries + 1}), base::Reason::kBadRequest);
  EXPECT_EQ(reason({.prefix = prefix, .at = {-1}}), base::Reason::kBadRequest);
  EXPECT_EQ(reason({.prefix = std::string(kMaxKeyBytes + 1, 'x')}), base::Reason::kBadRequest);
  const Revision future{Now().value + (int64_t{1} << 40)};
  EXPECT_EQ(reason({.prefix = prefix, .at = future}), base::Reason::kBadRequest);
  EXPECT_EQ(ReasonOf(CompactNow(engine(), future)), base::Reason::kBadRequest);
  const auto most = ScanPageNow(engine(), {.prefix = prefix, .limit = kMaxPageEntries});
  ASSERT_TRUE(most.has_value());
  EXPECT_EQ(ToItems(most->entries), model_.Items(prefix));
}

}  // namespace berth::store::contract
