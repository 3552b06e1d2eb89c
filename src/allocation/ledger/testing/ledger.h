// For tests only: a ledger with a range of six values, and writes that take some of them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/ledger/testing/records.h"
#include "state/testing/objects.h"

namespace berth::allocation::testing {

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() { Put("r10.0.0.0_29"); }  // 1 to 6.

  void Put(const std::string& name, const std::string& body = "") {
    const std::string key = RecordKey(name);
    auto object =
        state::Object::Make(*resources_.Find(key), ++revision_, state::testing::Wire(body));
    const state::ObjectPtr before = std::exchange(objects_[name], object);
    ledger_.OnBatch({{.revision = revision_, .object = object, .previous = before}}, revision_);
  }
  void Delete(const std::string& name) {
    const state::ObjectPtr before = objects_[name];
    objects_.erase(name);
    ++revision_;
    ledger_.OnBatch({{.revision = revision_, .previous = before}}, revision_);
  }

  static Claim Any() { return {.pool = PoolId::kIpv4}; }
  static U128 Bits(const std::string& address) { return ip::ParseAddr(address).value().bits(); }
  static Claim The(const std::string& address) {
    return {.pool = PoolId::kIpv4, .wanted = Bits(address)};
  }
  static std::string Name(U128 value) { return ip::Addr(ip::Family::kV4, value).ToString(); }
  static PoolValue Of(const std::string& address) {
    return {.pool = PoolId::kIpv4, .value = Bits(address)};
  }

  static Claim In(const std::string& range) { return {.pool = PoolId::kIpv4, .range = range}; }

  tl::expected<Grant, Denial> Request(const std::vector<Claim>& claims,
                                      const std::vector<PoolValue>& releases = {},
                                      const Claimant& claimant = {}) {
    TicketPtr ticket;
    return ledger_.GrantClaims(claimant, claims, releases, ticket);
  }
  /// Returns why a claim is denied, or nullopt if it is granted. Ends the grant.
  std::optional<Denial::Why> WhyNot(const Claim& claim) {
    const auto grant = Request({claim});
    if (!grant) return grant.error().why;
    ledger_.EndGrant(*grant);
    return std::nullopt;
  }
  /// Commits a write with these claims. Returns the addresses it takes.
  std::vector<std::string> Commit(const std::vector<Claim>& claims) {
    auto grant = Request(claims);
    EXPECT_TRUE(grant);
    if (!grant) return {};
    std::vector<std::string> names;
    for (const U128 value : grant->values) names.push_back(Name(value));
    for (const std::string& name : names) Put(name);
    ledger_.EndGrant(*grant);
    return names;
  }
  void CommitRelease(const std::string& address) {
    auto grant = Request({}, {Of(address)});
    ASSERT_TRUE(grant);
    Delete(address);
    ledger_.EndGrant(*grant);
  }
  LedgerView View() const { return LedgerView(ledger_); }
  bool Held(const std::string& address) const { return View().IsHeld(Of(address)); }
  U128 Free() const {
    const auto ranges = View().Ranges();
    return ranges[0].in_static[alloc::State::kFree] + ranges[0].in_dynamic[alloc::State::kFree];
  }

  state::Resources resources_ = state::testing::MakeResources();
  std::map<std::string, state::ObjectPtr> objects_;
  int64_t revision_ = 0;
  Ledger ledger_{Reader(), base::SeededRandom(1)};
};

/// A write that asks for values, and asks again when it is called back.
class Asker {
 public:
  Asker(Ledger& ledger, std::vector<std::string>& log, std::string name, size_t values = 1)
      : ledger_(ledger),
        log_(log),
        name_(std::move(name)),
        claims_(values, Claim{.pool = PoolId::kIpv4}) {
    Ask();
  }
  Asker(Ledger& ledger, std::vector<std::string>& log, std::string name, std::vector<Claim> claims)
      : ledger_(ledger), log_(log), name_(std::move(name)), claims_(std::move(claims)) {
    Ask();
  }

  void Ask() {
    for (int tries = 0; tries < 100; ++tries) {
      auto grant = ledger_.GrantClaims({}, claims_, {}, ticket_);
      if (grant) {
        log_.push_back(name_ + " got " + (claims_.size() == 1 ? "one" : "all"));
        grant_ = *std::move(grant);
        return;
      }
      if (!grant.error().wait) {
        log_.push_back(name_ + " is refused");
        ticket_ = nullptr;
        return;
      }
      if (grant.error().wait([this] { Ask(); })) return;
    }
    FAIL() << name_ << " turns in circles";
  }
  const Grant& grant() const { return grant_; }

 private:
  Ledger& ledger_;
  std::vector<std::string>& log_;
  const std::string name_;
  const std::vector<Claim> claims_;
  TicketPtr ticket_;
  Grant grant_;
};

}  // namespace berth::allocation::testing
