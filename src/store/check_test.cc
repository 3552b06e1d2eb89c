#include "store/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "store/keys.h"

namespace berth::store {
namespace {

using base::Reason;
using testing::HasSubstr;

std::string Numbered(size_t i) { return std::string("/registry/k").append(std::to_string(i)); }

Txn TxnOf(size_t compares, size_t puts, size_t deletes) {
  Txn txn;
  for (size_t i = 0; i < compares; ++i) txn.compares.push_back({.key = Numbered(i)});
  for (size_t i = 0; i < puts; ++i) txn.puts.push_back({.key = Numbered(i)});
  for (size_t i = 0; i < deletes; ++i) txn.deletes.push_back(Numbered(puts + i));
  return txn;
}

/// Expects a refusal with this reason and a message that contains `text`.
void ExpectRefused(const std::optional<base::Error>& error, Reason reason,
                   const std::string& text) {
  ASSERT_TRUE(error.has_value()) << text;
  EXPECT_EQ(error->reason, reason) << error->message;
  EXPECT_THAT(error->message, HasSubstr(text));
}

TEST(CheckTxn, TakesWhatIsWithinTheLimits) {
  EXPECT_FALSE(CheckTxn({}));
  EXPECT_FALSE(CheckTxn(TxnOf(5, 3, 0)));
  EXPECT_FALSE(CheckTxn(TxnOf(5, 0, 0)));
  // Counts around the one from which on a set is used.
  for (size_t n = 14; n <= 18; ++n) EXPECT_FALSE(CheckTxn(TxnOf(n, n / 2, n - n / 2))) << n;
  EXPECT_FALSE(CheckTxn(TxnOf(kMaxCompares, 0, 0)));
  EXPECT_FALSE(CheckTxn(TxnOf(0, kMaxPuts, kMaxDeletes)));
}

TEST(CheckTxn, CountsCompares) {
  ExpectRefused(CheckTxn(TxnOf(kMaxCompares + 1, 0, 0)), Reason::kRequestEntityTooLarge,
                "at most 4096 compares, this one has 4097");
  ExpectRefused(CheckTxn(TxnOf(0, kMaxPuts + 1, 0)), Reason::kRequestEntityTooLarge,
                "at most 2001 puts, this one has 2002");
  ExpectRefused(CheckTxn(TxnOf(0, 0, kMaxDeletes + 1)), Reason::kRequestEntityTooLarge,
                "at most 2047 deletes, this one has 2048");
}

TEST(CheckTxn, CountsBytes) {
  Txn txn{.compares = {{.key = "/registry/a"}},
          .puts = {{.key = "/registry/b"}},
          .deletes = {"/registry/c"}};
  const size_t rest = 3 * (std::string("/registry/a").size() + kTxnItemBytes);
  txn.puts[0].value.assign(kMaxTxnBytes - rest, 'x');
  EXPECT_FALSE(CheckTxn(txn));
  txn.puts[0].value.push_back('x');
  ExpectRefused(CheckTxn(txn), Reason::kRequestEntityTooLarge,
                "at most 1400000 bytes, this one has 1400001");
}

TEST(CheckTxn, FindsKeysThatComeTwice) {
  for (const size_t others :
       {size_t{0}, size_t{3}, size_t{14}, size_t{15}, size_t{16}, size_t{40}}) {
    Txn compares = TxnOf(others, 0, 0);
    compares.compares.push_back({.key = "/registry/x"});
    EXPECT_FALSE(CheckTxn(compares));
    compares.compares.push_back({.key = "/registry/x"});
    ExpectRefused(CheckTxn(compares), Reason::kBadRequest, "compares \"/registry/x\" twice");

    Txn writes = TxnOf(0, others, 0);
    writes.puts.push_back({.key = "/registry/x"});
    EXPECT_FALSE(CheckTxn(writes));
    writes.deletes.emplace_back("/registry/x");
    ExpectRefused(CheckTxn(writes), Reason::kBadRequest, "writes \"/registry/x\" twice");
  }
  // A key may be both compared and written, which is usual.
  EXPECT_FALSE(CheckTxn({.compares = {{.key = "/registry/x"}}, .puts = {{.key = "/registry/x"}}}));
}

TEST(CheckTxn, KeepsTheEnginesKeys) {
  for (const std::string_view own : {kMarkerKey, kCompactKey, kTickKey}) {
    const std::string key(own);
    ExpectRefused(CheckTxn({.compares = {{.key = key}}}), Reason::kBadRequest, key);
    ExpectRefused(CheckTxn({.puts = {{.key = key}}}), Reason::kBadRequest, key);
    ExpectRefused(CheckTxn({.deletes = {key}}), Reason::kBadRequest, key);
  }
  ExpectRefused(CheckTxn({.deletes = {"/registry/berth.io/fence/process/7"}}), Reason::kBadRequest,
                "the store's own");
  EXPECT_FALSE(CheckTxn({.deletes = {"/registry/berth.io/fence/ranges"}}));
  EXPECT_FALSE(CheckTxn({.deletes = {"/registry/berth.io/mode2"}}));
}

TEST(CheckTxn, RefusesNumbersThatMeanNothing) {
  ExpectRefused(CheckTxn({.compares = {{.key = "/registry/a", .revision = {-1}}}}),
                Reason::kBadRequest, "\"/registry/a\"");
  ExpectRefused(CheckTxn({.puts = {{.key = "/registry/a", .ttl = std::chrono::seconds(-1)}}}),
                Reason::kBadRequest, "ttl of -1 s");
  EXPECT_FALSE(CheckTxn({.puts = {{.key = "/registry/a", .ttl = kMaxTtl}}}));
  EXPECT_TRUE(
      CheckTxn({.puts = {{.key = "/registry/a", .ttl = kMaxTtl + std::chrono::seconds(1)}}}));
}

TEST(CheckKey, LengthsAndBytes) {
  EXPECT_FALSE(CheckKey("a"));
  EXPECT_FALSE(CheckKey("\xff\x01"));
  EXPECT_FALSE(CheckKey(std::string(kMaxKeyBytes, 'x')));
  ExpectRefused(CheckKey(""), Reason::kBadRequest, "empty");
  ExpectRefused(CheckKey(std::string_view("a\0b", 3)), Reason::kBadRequest, R"("a\x00b")");
  // The message shows a part of a long key and its length.
  const auto error = CheckKey(std::string(kMaxKeyBytes + 1, 'x'));
  ExpectRefused(error, Reason::kBadRequest, "at most 1024 bytes");
  EXPECT_THAT(error->message, HasSubstr("(1025 bytes)"));
  EXPECT_LT(error->message.size(), 200U);
}

TEST(CheckScan, Bounds) {
  EXPECT_FALSE(CheckScan({}));
  EXPECT_FALSE(CheckScan({.prefix = "/registry/", .after = "/registry/a", .at = {5}, .limit = 1}));
  EXPECT_FALSE(CheckScan({.limit = kMaxPageEntries}));
  ExpectRefused(CheckScan({.limit = 0}), Reason::kBadRequest, "1 to 10000 entries");
  ExpectRefused(CheckScan({.limit = kMaxPageEntries + 1}), Reason::kBadRequest, "10001");
  ExpectRefused(CheckScan({.at = {-5}}), Reason::kBadRequest, "-5");
  ExpectRefused(CheckScan({.prefix = std::string(1, '\0')}), Reason::kBadRequest, "NUL");
  ExpectRefused(CheckScan({.after = std::string(kMaxKeyBytes + 1, 'x')}), Reason::kBadRequest,
                "1024");
}

TEST(StoreErrors, SayWhatWasAskedAndWhatThereIs) {
  const base::Error compacted = CompactedError({5}, {9});
  EXPECT_EQ(compacted.reason, Reason::kExpired);
  EXPECT_THAT(compacted.message, HasSubstr("revision 5"));
  EXPECT_THAT(compacted.message, HasSubstr("up to 9"));
  const base::Error future = FutureError({12}, {9});
  EXPECT_EQ(future.reason, Reason::kBadRequest);
  EXPECT_THAT(future.message, HasSubstr("12"));
  EXPECT_THAT(future.message, HasSubstr("at 9"));
}

}  // namespace
}  // namespace berth::store
