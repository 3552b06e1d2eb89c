// Generates requests about ranges and about reserved values.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "model/services_request.h"

namespace berth::model {
namespace {

/// Names that a range of the pool may have, the well-known one first, and bounds: smaller and
/// larger ones, and others that overlap with these or are disjoint.
struct RangeChoice {
  PoolOf pool;
  std::vector<std::string> names;
  std::vector<std::string> texts;
  std::vector<std::string> other_texts;
};

const alloc::PerPool<RangeChoice> kChoices = {{{
    {PoolOf::kIpv4,
     {"allocator.ipv4.k8s.io", "blue", "green"},
     {"10.96.0.0/26", "10.96.0.0/27", "10.96.0.0/27", "10.96.0.0/28", "10.96.0.0/29"},
     {"10.96.0.16/28", "10.96.0.32/27", "10.96.1.0/28"}},
    {PoolOf::kIpv6,
     {"allocator.ipv6.k8s.io", "six"},
     {"fd00::/122", "fd00::/123", "fd00::/123", "fd00::/124", "fd00::/125"},
     {"fd00::10/124", "fd00::1:0/125"}},
    {PoolOf::kPorts,
     {"allocator.nodeport.k8s.io", "web", "low"},
     {"30000-30023", "30000-30023", "30000-30047", "30000-30007", "30000-30015"},
     {"30010-30040", "80-82", "443"}},
}}};

/// A band must fit into the smallest range.
constexpr int64_t kMostBand = 4;

}  // namespace

Request Requests::KeepRequest(Request request, const World& now) {
  const PoolOf pool = kAllPools[Draw(3)];
  request.verb = Percent(habits_.tidy ? 40 : 65) ? Verb::kKeep : Verb::kUnreserve;
  request.body = {};
  request.name = SomeValue(pool, now);
  if (request.name.empty() || Percent(4)) request.name = Percent(50) ? "30060" : "10.97.0.1";
  if (request.verb == Verb::kUnreserve && !now.records.empty() && Percent(80)) {
    auto at = now.records.begin();
    std::advance(at, static_cast<ptrdiff_t>(Draw(now.records.size())));
    request.name = at->first;
  }
  if (request.verb != Verb::kKeep) return request;
  if (Percent(75)) {
    request.parent = SomeName(now, Percent(50));
    const auto longest = static_cast<uint64_t>(habits_.hold);
    if (longest > 0 && Percent(40)) request.hold = 1 + static_cast<int64_t>(Draw(longest));
  }
  return request;
}

RangeSpec Requests::SomeRange(const std::string& name, PoolOf pool) {
  const RangeChoice& choice = kChoices[pool];
  const bool other = habits_.tidy ? name != choice.names.front() : Percent(40);
  RangeSpec spec{
      .name = name, .pool = pool, .text = One(other ? choice.other_texts : choice.texts)};
  spec.disabled = Percent(10);
  spec.strict = Percent(10);
  if (Percent(30)) spec.priority = static_cast<int64_t>(Draw(3));
  if (Percent(20) && spec.text != "443" && spec.text != "80-82") {
    spec.band = static_cast<int64_t>(Draw(kMostBand + 1));
  }
  if (habits_.cool_down > 0 && Percent(50)) {
    spec.cool_down = static_cast<int64_t>(Draw(static_cast<uint64_t>(habits_.cool_down) + 1));
  }
  if (Percent(25)) {
    const Range range(spec);
    for (uint64_t i = 1 + Draw(3); i > 0; --i) spec.excluded.insert(One(range.values()));
  }
  return spec;
}

/// Half of the changes are about one field, the others about all fields.
Request Requests::RangeRequest(Request request, const World& now) {
  const RangeChoice& choice = One(kChoices);
  const std::string& name = One(choice.names);
  request.body = {};
  request.name = name;
  request.range = SomeRange(name, choice.pool);
  const RangeSpec* old = now.cluster->Find(Cluster::KeyOf(request.range));
  static const std::vector<Verb> kVerbs = {Verb::kSetRange, Verb::kSetRange, Verb::kSetRange,
                                           Verb::kDropRange};
  request.verb = One(kVerbs);
  if (habits_.tidy && name != choice.names.front()) request.verb = Verb::kDropRange;
  if (old == nullptr ? Percent(90) : Percent(5)) request.verb = Verb::kMakeRange;
  if (request.verb == Verb::kMakeRange) request.range.disabled = Percent(5);
  if (choice.pool != PoolOf::kPorts) {
    // A primary range mostly stays primary. The other requests try to change that.
    const bool is = old != nullptr && old->primary;
    request.range.primary = is ? Percent(95) : Percent(8);
  }
  if (old == nullptr || request.verb != Verb::kSetRange || Percent(50)) return request;
  RangeSpec next = *old;
  switch (Draw(6)) {
    case 0:
    case 1:
      next.text = request.range.text;
      next.band = std::nullopt;
      break;
    case 2:
      next.disabled = !next.disabled;
      break;
    case 3:
      next.excluded = request.range.excluded;
      break;
    case 4:
      next.cool_down = request.range.cool_down;
      break;
    default:
      next.primary = request.range.primary;
      break;
  }
  request.range = std::move(next);
  return request;
}

}  // namespace berth::model
