// For tests only: allocations of a range of six values, and writes that take some.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit/allocations.h"
#include "commit/testing_records.h"
#include "state/testing.h"

namespace berth::commit::testing {

class AllocationsTest : public ::testing::Test {
 protected:
  using Grant = Allocations::Grant;

  AllocationsTest() { Put("r10.0.0.0_29"); }  // 1 to 6.

  void Put(const std::string& name, const std::string& body = "") {
    const std::string key = RecordKey(name);
    auto object =
        state::Object::Make(*resources_.Find(key), ++revision_, state::testing::Wire(body));
    const state::ObjectPtr before = std::exchange(objects_[name], object);
    allocations_.OnBatch({{.revision = revision_, .object = object, .previous = before}},
                         revision_);
  }
  void Delete(const std::string& name) {
    const state::ObjectPtr before = objects_[name];
    objects_.erase(name);
    ++revision_;
    allocations_.OnBatch({{.revision = revision_, .previous = before}}, revision_);
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

  tl::expected<Grant, Allocations::Denial> Plan(const std::vector<Claim>& claims,
                                                const std::vector<PoolValue>& gives = {},
                                                const Claimant& claimant = {}) {
    Allocations::TicketPtr ticket;
    return allocations_.Plan(claimant, claims, gives, ticket);
  }
  /// Why a claim is denied; nothing: it is granted, and that is settled.
  std::optional<Allocations::Why> WhyNot(const Claim& claim) {
    const auto grant = Plan({claim});
    if (!grant) return grant.error().why;
    allocations_.Settle(*grant);
    return std::nullopt;
  }
  /// A write that takes these and is committed.
  std::vector<std::string> Commit(const std::vector<Claim>& claims) {
    auto grant = Plan(claims);
    EXPECT_TRUE(grant);
    if (!grant) return {};
    std::vector<std::string> names;
    for (const U128 value : grant->values) names.push_back(Name(value));
    for (const std::string& name : names) Put(name);
    allocations_.Settle(*grant);
    return names;
  }
  void CommitGive(const std::string& address) {
    auto grant = Plan({}, {Of(address)});
    ASSERT_TRUE(grant);
    Delete(address);
    allocations_.Settle(*grant);
  }
  bool Held(const std::string& address) const { return allocations_.IsHeld(Of(address)); }
  U128 Free() const {
    const auto ranges = allocations_.Ranges();
    return ranges[0].in_static[alloc::State::kFree] + ranges[0].in_dynamic[alloc::State::kFree];
  }

  state::Resources resources_ = state::testing::MakeResources();
  std::map<std::string, state::ObjectPtr> objects_;
  int64_t revision_ = 0;
  Allocations allocations_{Reader(), base::SeededRandom(1)};
};

/// A write that asks for any value, and asks again when it is told to.
class Asker {
 public:
  Asker(Allocations& allocations, std::vector<std::string>& log, std::string name,
        size_t values = 1)
      : allocations_(allocations),
        log_(log),
        name_(std::move(name)),
        claims_(values, Claim{.pool = PoolId::kIpv4}) {
    Ask();
  }
  Asker(Allocations& allocations, std::vector<std::string>& log, std::string name,
        std::vector<Claim> claims)
      : allocations_(allocations), log_(log), name_(std::move(name)), claims_(std::move(claims)) {
    Ask();
  }

  void Ask() {
    for (int tries = 0; tries < 100; ++tries) {
      auto grant = allocations_.Plan({}, claims_, {}, ticket_);
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
  const Allocations::Grant& grant() const { return grant_; }

 private:
  Allocations& allocations_;
  std::vector<std::string>& log_;
  const std::string name_;
  const std::vector<Claim> claims_;
  Allocations::TicketPtr ticket_;
  Allocations::Grant grant_;
};

}  // namespace berth::commit::testing
