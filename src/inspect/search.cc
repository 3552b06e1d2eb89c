#include "inspect/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/separators.h"
#include "inspect/names.h"
#include "inspect/range_part.h"
#include "inspect/whois.h"

namespace berth::inspect {
namespace {

using alloc::Interval;
using alloc::PoolValue;

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", base::WithSeparators(base::U128(count)), count == 1 ? one : many);
}

/// Returns "in kubernetes 10.96.0.0/16", or where it is not.
std::string PlaceText(const ValueAnswer& answer) {
  if (answer.places.empty()) return "in no range";
  return "in " + TitleOf(answer.places.front().range);
}

std::string OwnersText(const ValueAnswer& answer) {
  if (answer.owners.empty()) {
    if (answer.record == nullptr) return std::string(NameOf(answer.standing));
    const std::string& whom = answer.record->facts.reserved_for;
    return whom.empty() ? std::string(NameOf(answer.standing))
                        : fmt::format("{} for {}", NameOf(answer.standing), whom);
  }
  std::string text = "taken by " + PathOf(*answer.owners.front().service);
  if (answer.owners.size() > 1) text += fmt::format(" and {} more", answer.owners.size() - 1);
  return text;
}

/// A hit with how well it fits; the smallest comes first.
struct Ranked {
  Filter::Fit fit = Filter::Fit::kExact;
  HitKind kind = HitKind::kValue;
  Hit hit = {};
};

class Searcher {
 public:
  Searcher(const Census& census, const Filter& filter)
      : census_(census), cluster_(census.cluster()), filter_(filter) {}

  SearchAnswer Run() && {
    AddValues();
    AddRanges();
    AddServices();
    AddLabels();
    // Hits that fit equally well stay in the order in which they were found.
    std::ranges::stable_sort(ranked_, {}, [](const Ranked& each) { return each.fit; });
    SearchAnswer found{.more = more_};
    for (Ranked& each : ranked_) {
      if (found.hits.size() < kMostHits) {
        found.hits.push_back(std::move(each.hit));
      } else {
        ++found.more;
      }
    }
    return found;
  }

 private:
  void Add(Filter::Fit fit, Hit hit) {
    ranked_.push_back({.fit = fit, .kind = hit.kind, .hit = std::move(hit)});
  }

  /// Sets the range that shows a value.
  void Show(const PoolValue& value, Hit& hit) const {
    const ValueAnswer answer = LookUp(census_, value);
    if (answer.places.empty()) return;
    hit.range = answer.places.front().range;
    hit.values = Interval{.first = value.value, .last = value.value};
  }

  void AddValues() {
    if (!filter_.values()) return;
    const WrittenRange& written = *filter_.values();
    if (written.values.first == written.values.last) {
      const PoolValue value{.pool = written.pool, .value = written.values.first};
      const ValueAnswer answer = LookUp(census_, value);
      Hit hit{.kind = HitKind::kValue,
              .title = written.text,
              .text = fmt::format("{}, {}", OwnersText(answer), PlaceText(answer)),
              .value = value,
              .find = written.text};
      Show(value, hit);
      Add(Filter::Fit::kExact, std::move(hit));
      return;
    }
    const auto uses = census_.UsesIn(written.pool, written.values).size();
    const auto parts = FindParts(census_, written.text);
    if (!parts) return;
    for (const RangePart& part : *parts) {
      const bool whole = part.values == AllValuesOf(*part.range.row);
      Add(Filter::Fit::kExact,
          {.kind = whole ? HitKind::kRange : HitKind::kPart,
           .title = whole ? TitleOf(part.range) : written.text,
           .text = fmt::format("{}; {}", whole ? "a range" : "a part of " + TitleOf(part.range),
                               Counted(uses, "value is in use", "values are in use")),
           .range = part.range,
           .values = part.values,
           .find = written.text});
    }
  }

  void AddRanges() {
    for (const RangeRef& range : census_.ranges()) {
      const Filter::Fit fit = filter_.FitOf(range.row->name);
      if (fit == Filter::Fit::kNone || range.row->name == range.row->text) continue;
      Add(fit, {.kind = HitKind::kRange,
                .title = TitleOf(range),
                .text = fmt::format("a range of {} values", range.pool == alloc::PoolId::kPorts
                                                                ? "node port"
                                                                : NameOf(range.pool)),
                .range = range,
                .values = AllValuesOf(*range.row)});
    }
  }

  /// Adds Services and the namespaces of them. Services are ordered by namespace.
  void AddServices() {
    const auto& services = cluster_.services;
    for (size_t begin = 0; begin < services.size();) {
      const std::string& name_space = services[begin].object.name_space;
      size_t end = begin;
      for (; end < services.size() && services[end].object.name_space == name_space; ++end) {
        AddService(services[end]);
      }
      if (const auto fit = filter_.FitOf(name_space); fit != Filter::Fit::kNone) {
        Add(fit, {.kind = HitKind::kNamespace,
                  .title = name_space,
                  .text = "a namespace with " + Counted(end - begin, "Service", "Services"),
                  .find = "namespace:" + name_space});
      }
      begin = end;
    }
  }

  void AddService(const Service& service) {
    CountLabels(service);
    const Filter::Fit fit = filter_.FitOf(service.object);
    if (fit == Filter::Fit::kNone) return;
    size_t& of_fit = services_[static_cast<size_t>(fit)];
    // More of them than anybody sees need no text.
    if (of_fit++ >= kMostHits) {
      ++more_;
      return;
    }
    std::string holds;
    for (const Held& held : service.holds) {
      if (holds.size() > kMostHeldText) break;
      holds += (holds.empty() ? "" : ", ") + alloc::TextOf(held.value);
    }
    Hit hit{.kind = HitKind::kService,
            .title = PathOf(service),
            .text = fmt::format("{} Service{}{}", service.type.empty() ? "ClusterIP" : service.type,
                                holds.empty() ? ", holds nothing" : ", holds ", holds),
            .service = PathOf(service),
            .find = "service:" + PathOf(service)};
    if (!service.holds.empty()) Show(service.holds.front().value, hit);
    Add(fit, std::move(hit));
  }

  void CountLabels(const Service& service) {
    if (!filter_.MatchesLabels(service)) return;
    ForEachLabel(service.labels, [&](std::string_view key, std::string_view value) {
      if (value.data() == nullptr || !filter_.IsLabel(key, value)) return;
      // Both lie in one text, "app=web".
      ++labels_[{key.data(), key.size() + 1 + value.size()}];
      label_key_ = key;
    });
  }

  void AddLabels() {
    std::vector<std::pair<uint64_t, std::string_view>> most;
    uint64_t all = 0;
    for (const auto& [label, count] : labels_) {
      most.emplace_back(count, label);
      all += count;
    }
    std::ranges::sort(most, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const auto add = [&](std::string label, uint64_t count) {
      Hit hit{.kind = HitKind::kLabel,
              .title = label,
              .text = fmt::format("a label of {}", Counted(count, "Service", "Services"))};
      hit.find = "label:" + std::move(label);
      Add(Filter::Fit::kExact, std::move(hit));
    };
    if (most.size() > 1) add(std::string(label_key_), all);
    for (size_t i = 0; i < most.size(); ++i) {
      if (i == kMostLabels) {
        more_ += most.size() - i;
        break;
      }
      add(std::string(most[i].second), most[i].first);
    }
  }

  static constexpr size_t kMostLabels = 10;
  static constexpr size_t kMostHeldText = 100;

  const Census& census_;
  const Cluster& cluster_;
  const Filter& filter_;
  std::vector<Ranked> ranked_;
  std::array<size_t, 4> services_ = {};  // Those that were found, by how well they fit.
  std::unordered_map<std::string_view, uint64_t> labels_;
  std::string_view label_key_;
  uint64_t more_ = 0;
};

}  // namespace

std::string_view NameOf(HitKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"value", "service", "namespace",
                                                      "range", "part",    "label"};
  return kNames[static_cast<size_t>(kind)];
}

SearchAnswer Search(const Census& census, const Filter& filter) {
  if (filter.empty()) return {};
  return Searcher(census, filter).Run();
}

}  // namespace berth::inspect
