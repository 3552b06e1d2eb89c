// For tests only: Services, records of values, ranges and fences as "namespaces" of the test
// resources.
//
// - "s-web" is a Service. Its body has the addresses that it holds.
// - "10.0.0.1" is a record. Its body is empty (allocated), or it is "allocated", "reserved",
//   "pending" or "cooling", followed by " <namespace>/<name>" if the value is for a Service.
// - "r10.0.0.0_28" is a range with the name "10.0.0.0/28". Words of its body are "drained",
//   "priority=3" and "cool=60"; other words mean nothing.
// - "fence4" and "fence6" are fences. The word "r10.0.0.0_28" in the body means that this range
//   shall be deleted; "r10.0.0.0_28=r10.0.0.0_29" means that it shall become another range.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "ip/cidr.h"
#include "state/testing/objects.h"

namespace berth::allocation::testing {

inline std::string RecordKey(const std::string& name) { return "/registry/namespaces/" + name; }

inline std::string NameOf(const PoolValue& value) {
  const auto family = value.pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
  return ip::Addr(family, value.value).ToString();
}

inline std::optional<RecordInfo> ReadRecord(const state::Object& object) {
  const auto address = ip::ParseAddr(object.Name());
  if (!address) return std::nullopt;
  RecordInfo info{.value = {.pool = PoolOf(address->family()), .value = address->bits()}};
  std::istringstream body(state::testing::Body(object));
  std::string state;
  body >> state >> info.reserved_for;
  if (state == "reserved") info.state = RecordState::kReserved;
  if (state == "pending") info.state = RecordState::kPending;
  if (state == "cooling") info.state = RecordState::kCooling;
  return info;
}

inline alloc::RangeFacts FactsOf(std::string_view name, const std::string& body) {
  std::string text(name.substr(1));
  text[text.find('_')] = '/';
  const auto cidr = ip::ParseCidr(text).value();
  alloc::RangeRow row{.name = text, .text = text, .layout = *alloc::LayoutOf(cidr)};
  std::istringstream words(body);
  for (std::string word; words >> word;) {
    if (word == "drained") row.open = false;
    if (word.starts_with("priority=")) row.priority = std::stoll(word.substr(9));
    if (word.starts_with("cool=")) row.cool_down = std::chrono::seconds(std::stoll(word.substr(5)));
  }
  alloc::RangeFacts facts;
  facts.parts.push_back({.pool = PoolOf(cidr.family()), .row = std::move(row)});
  return facts;
}

inline std::optional<std::pair<PoolId, std::optional<alloc::Closing>>> ReadFence(
    const state::Object& object) {
  if (!object.Name().starts_with("fence")) return std::nullopt;
  std::pair<PoolId, std::optional<alloc::Closing>> fence(
      object.Name() == "fence4" ? PoolId::kIpv4 : PoolId::kIpv6, std::nullopt);
  std::istringstream words(state::testing::Body(object));
  for (std::string word; words >> word;) {
    if (!fence.second) fence.second.emplace();
    const size_t is = word.find('=');
    std::optional<alloc::RangeFacts>& next = fence.second->next[RecordKey(word.substr(0, is))];
    if (is != std::string::npos) next = FactsOf(word.substr(is + 1), "");
  }
  return fence;
}

inline std::set<U128> HeldBy(const state::ObjectPtr& service) {
  std::set<U128> values;
  if (service == nullptr) return values;
  std::istringstream words(state::testing::Body(*service));
  for (std::string word; words >> word;) values.insert(ip::ParseAddr(word).value().bits());
  return values;
}

inline bool ReadService(const state::Change& change, std::vector<HoldingChange>& changes) {
  if (!change.Last()->Name().starts_with("s-")) return false;
  const std::set<U128> before = HeldBy(change.previous);
  const std::set<U128> after = HeldBy(change.object);
  for (const U128 value : after) {
    if (!before.contains(value)) changes.push_back({.value = {.value = value}, .held = true});
  }
  for (const U128 value : before) {
    if (!after.contains(value)) changes.push_back({.value = {.value = value}, .held = false});
  }
  return true;
}

inline RecordReader Reader() {
  return {.service = ReadService,
          .record = ReadRecord,
          .facts = [](const state::Object& object) -> std::optional<alloc::RangeFacts> {
            if (object.Name()[0] != 'r') return std::nullopt;
            return FactsOf(object.Name(), state::testing::Body(object));
          },
          .closing = ReadFence};
}

}  // namespace berth::allocation::testing
