#include "inspect/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/go_text.h"
#include "codec/read.h"
#include "inspect/cluster_reader.h"
#include "inspect/lint_checks.h"

namespace berth::inspect {
namespace {

using FieldKeys = std::set<std::pair<const ManifestService*, std::string>>;

std::string PlaceText(const LintService& service, std::string_view field) {
  const codec::TextMark mark = service.source->MarkOf(field);
  return fmt::format("{}:{}:{}", service.manifest->file, mark.line, mark.column);
}

void CheckNames(LintContext& context, const std::vector<LintService>& services) {
  std::map<std::string_view, std::vector<const LintService*>> by_key;
  for (const LintService& service : services) by_key[service.key].push_back(&service);
  for (const auto& [key, same] : by_key) {
    if (same.size() < 2) continue;
    LintFinding& finding = context.Add(LintRule::kDuplicateService, *same[1], "metadata.name");
    finding.message = fmt::format("Service {} is defined {} times in the files, first at {}", key,
                                  same.size(), PlaceText(*same[0], "metadata.name"));
    finding.why = "The definition that is applied last counts.";
  }
}

FieldKeys CheckValuesTogether(LintContext& context, const std::vector<LintService>& services) {
  FieldKeys found;
  using First = std::pair<const LintService*, const Asked*>;
  std::map<std::pair<alloc::PoolId, base::U128>, First> firsts;
  for (const LintService& service : services) {
    for (const Asked& asked : service.asked) {
      const auto [first, added] =
          firsts.try_emplace({asked.value.pool, asked.value.value}, First(&service, &asked));
      const auto& [owner, other] = first->second;
      if (added || owner->key == service.key) continue;
      const bool health = asked.health_check || other->health_check;
      LintFinding& finding = context.Add(
          health ? LintRule::kHealthCheckPort : LintRule::kDuplicateValue, service, asked);
      finding.message =
          fmt::format("{} of Service {} is also asked for by Service {}{}, at {}", NameOf(asked),
                      service.key, owner->key, other->health_check ? " for its health check" : "",
                      PlaceText(*owner, other->field));
      finding.why = "A value belongs to one Service, and the API server refuses the second one.";
      context.Propose(finding, service, asked);
      found.emplace(service.source, asked.field);
    }
  }
  return found;
}

/// Returns the names of rules in an ignore.
std::vector<std::string_view> RulesIn(std::string_view text) {
  std::vector<std::string_view> rules;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (const auto one = base::GoTrimSpace(text.substr(0, end)); !one.empty()) rules.push_back(one);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rules;
}

bool Covers(std::string_view rules, const LintFinding& finding) {
  const auto names = RulesIn(rules);
  return std::ranges::find(names, InfoOf(finding.rule).id) != names.end();
}

/// Returns the rules that the annotation of a Service names: the first word of it.
std::string_view AnnotationRules(const codec::Value& service) {
  const std::string_view text =
      codec::StringAt(service, "metadata", "annotations", kIgnoreAnnotation);
  return text.substr(0, text.find(' '));
}

/// What switches findings off: the comments of the files, by file and line, and the annotations of
/// Services.
class Ignores {
 public:
  Ignores(LintContext& context, const std::vector<Manifest>& manifests,
          const std::vector<LintService>& services) {
    for (const Manifest& manifest : manifests) {
      for (const Ignore& ignore : manifest.ignores) {
        lines_.emplace(std::pair(std::string_view(manifest.file), ignore.line), &ignore);
        CheckIgnore(context, manifest.file, ignore.at, ignore.rules);
      }
    }
    for (const LintService& service : services) {
      const std::string_view rules = AnnotationRules(service.source->object);
      if (rules.empty()) continue;
      services_[service.key] += fmt::format("{},", rules);
      CheckIgnore(context, service.manifest->file, service.source->MarkOf("metadata.annotations"),
                  rules);
    }
  }

  bool Cover(const LintFinding& finding) const {
    const auto [begin, end] =
        lines_.equal_range(std::pair(std::string_view(finding.file), finding.mark.line));
    for (auto line = begin; line != end; ++line) {
      if (Covers(line->second->rules, finding)) return true;
    }
    const auto service = services_.find(finding.service);
    return service != services_.end() && Covers(service->second, finding);
  }

 private:
  static void CheckIgnore(LintContext& context, const std::string& file, codec::TextMark mark,
                          std::string_view rules) {
    const auto names = RulesIn(rules);
    const auto unknown = std::ranges::find_if(
        names, [](std::string_view name) { return RuleNamed(name) == nullptr; });
    if (!names.empty() && unknown == names.end()) return;
    LintFinding& finding = context.findings().emplace_back();
    finding.rule = LintRule::kBadIgnore;
    finding.severity = InfoOf(LintRule::kBadIgnore).severity;
    finding.file = file;
    finding.mark = mark;
    finding.message = names.empty() ? "the ignore names no rule"
                                    : fmt::format("there is no rule {}", base::GoQuoted(*unknown));
    finding.advice = "Write `# berth-lint: ignore RULE reason` with the name of a rule.";
  }

  std::multimap<std::pair<std::string_view, size_t>, const Ignore*> lines_;
  std::map<std::string, std::string, std::less<>> services_;
};

void AddFaults(LintContext& context, const std::vector<Manifest>& manifests) {
  for (const Manifest& manifest : manifests) {
    for (const ManifestFault& fault : manifest.faults) {
      LintFinding& finding = context.findings().emplace_back();
      finding.rule = fault.is_template  ? LintRule::kNotRendered
                     : fault.is_missing ? LintRule::kNoManifest
                                        : LintRule::kUnreadable;
      finding.severity = InfoOf(finding.rule).severity;
      finding.file = manifest.file;
      finding.mark = fault.mark;
      finding.message = fault.message;
      finding.advice = fault.advice;
    }
  }
}

void CheckService(LintContext& context, const LintService& service, const FieldKeys& duplicates) {
  for (const Asked& asked : service.asked) {
    if (!CheckKept(context, service, asked)) continue;
    if (!CheckTaken(context, service, asked)) continue;
    if (!CheckRange(context, service, asked)) continue;
    CheckNodes(context, service, asked);
    if (duplicates.contains({service.source, asked.field})) continue;
    CheckBand(context, service, asked);
  }
}

bool ShowsAddressRanges(const Cluster& cluster) {
  return std::ranges::any_of(cluster.ranges, [](const Range& range) {
    return range.exact && range.facts.range.kind != alloc::RangeKind::kNodePortRange;
  });
}

void AddLimits(const LintContext& context, const std::vector<LintService>& services,
               LintReport& report) {
  const LintOptions& options = context.options();
  bool ports = false;
  bool addresses = false;
  for (const LintService& service : services) {
    for (const Asked& asked : service.asked) {
      (asked.value.pool == alloc::PoolId::kPorts ? ports : addresses) = true;
    }
  }
  if (addresses && !options.addresses_known) {
    const bool in_files = ShowsAddressRanges(context.census().cluster());
    report.limits.emplace_back(
        in_files ? "Of addresses only the ranges in these files are known, so a cluster IP outside "
                   "of them was not checked. Give --service-cidr, or a cluster that shows its "
                   "ServiceCIDRs."
                 : "The ranges of addresses are not known, so bands and ranges of cluster IPs were "
                   "not checked. Give --service-cidr, or a cluster that shows its ServiceCIDRs.");
  }
  for (const RangeRef& range : context.ranges()) {
    if (range.range->exact || !ports) continue;
    report.limits.push_back(
        fmt::format("The range {} of node ports is {}. If it is another one, give "
                    "--node-port-range.",
                    range.row->text, range.range->source));
  }
  if (!options.has_cluster && report.values > 0) {
    report.limits.emplace_back(
        "No cluster was asked, so chances are those of an empty cluster, and values that are taken "
        "are not known. Give --cluster, or -f FILE with the Services of the cluster.");
  }
  for (const Gap& gap : context.census().cluster().gaps) {
    report.limits.push_back(gap.advice.empty() ? fmt::format("{}.", gap.what)
                                               : fmt::format("{}: {}.", gap.what, gap.advice));
  }
}

}  // namespace

FieldKeys CheckTogether(LintContext& context, const std::vector<LintService>& services) {
  CheckNames(context, services);
  return CheckValuesTogether(context, services);
}

size_t LintReport::Count(LintSeverity severity) const {
  return static_cast<size_t>(std::ranges::count(findings, severity, &LintFinding::severity));
}

LintBase WithManifests(Cluster cluster, const std::vector<Manifest>& manifests) {
  LintBase base;
  base.addresses_known = ShowsAddressRanges(cluster);
  std::vector<Gap> gaps = cluster.gaps;
  ClusterReader reader({});
  reader.view() = std::move(cluster);
  for (const Manifest& manifest : manifests) {
    for (const codec::Value& object : manifest.others) reader.AddAny(object);
  }
  base.cluster = std::move(reader).Finish();
  // A manifest may describe an object that the cluster has.
  base.cluster.gaps = std::move(gaps);
  return base;
}

LintReport Lint(const std::vector<Manifest>& manifests, const Census& census,
                const LintOptions& options) {
  LintContext context(census, options);
  LintReport report{.files = manifests.size()};
  AddFaults(context, manifests);
  std::vector<LintService> services;
  for (const Manifest& manifest : manifests) {
    for (const ManifestService& source : manifest.services) {
      LintService& service = services.emplace_back(ReadLintService(context, manifest, source));
      CheckValidity(context, service);
      service.complete = codec::Value();  // There may be many Services.
      for (const Asked& asked : service.asked) context.safe().Exclude(asked.value);
      report.values += service.asked.size();
    }
  }
  report.services = services.size();
  const FieldKeys duplicates = CheckTogether(context, services);
  for (const LintService& service : services) CheckService(context, service, duplicates);
  const Ignores ignores(context, manifests, services);
  report.findings = std::move(context.findings());
  report.ignored = std::erase_if(
      report.findings, [&](const LintFinding& finding) { return ignores.Cover(finding); });
  // The files stay in the order in which they were given.
  std::map<std::string_view, size_t> order;
  for (const Manifest& manifest : manifests) order.try_emplace(manifest.file, order.size());
  std::ranges::stable_sort(report.findings, {}, [&](const LintFinding& finding) {
    return std::tuple(order[finding.file], finding.mark.line, finding.mark.column);
  });
  if (report.findings.size() > kMaxLintFindings) {
    report.left_out = report.findings.size() - kMaxLintFindings;
    report.findings.resize(kMaxLintFindings);
  }
  AddLimits(context, services, report);
  return report;
}

}  // namespace berth::inspect
