#include "berth/inspect/lint_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/inspect/lint_output.h"
#include "berth/inspect/load_cluster.h"
#include "berth/inspect/manifest_files.h"
#include "berth/inspect/range_sources.h"
#include "berth/store/open.h"
#include "berth/terminal.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "inspect/cluster_reader.h"
#include "inspect/lint.h"
#include "ip/port_range.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;
using inspect::LintSeverity;

constexpr std::array<std::string_view, 6> kLintFormats = {"text",   "json",  "yaml",
                                                          "github", "sarif", "junit"};
constexpr size_t kMaxHostPortsBytes = size_t{1} << 20;

/// Returns whether a flag names a cluster. Ranges alone do not.
bool NamesCluster(const LintArguments& arguments) {
  return arguments.cluster || NamesSource(arguments.source);
}

Result<void> CheckLintArguments(const LintArguments& arguments) {
  const auto bad = [](std::string message) {
    return base::Fail(Reason::kInvalid, std::move(message));
  };
  if (std::ranges::find(kLintFormats, arguments.format) == kLintFormats.end()) {
    return bad(fmt::format("-o {}: must be text, json, yaml, github, sarif or junit",
                           base::GoQuoted(arguments.format)));
  }
  if (!inspect::SeverityNamed(arguments.fail_on)) {
    return bad(fmt::format("--fail-on {}: must be error, warning or note",
                           base::GoQuoted(arguments.fail_on)));
  }
  const auto& files = arguments.source.files;
  if (std::ranges::find(arguments.paths, "-") != arguments.paths.end() &&
      std::ranges::find(files, "-") != files.end()) {
    return bad("standard input can be the manifests or the cluster (-f -), not both");
  }
  return {};
}

Result<inspect::HostPorts> HostPortsOf(const std::vector<std::string>& flags) {
  inspect::HostPorts ports = inspect::UsualHostPorts();
  for (const std::string& flag : flags) {
    if (flag == "none") {
      ports.clear();
      continue;
    }
    std::string list = flag;
    if (flag.empty() || flag.front() < '0' || flag.front() > '9') {
      auto text = ReadAll(flag, kMaxHostPortsBytes);
      if (!text) {
        return base::Fail(Reason::kInvalid,
                          fmt::format("--host-ports {}: {}", flag, text.error().message));
      }
      list = *std::move(text);
    }
    if (const auto added = inspect::AddHostPorts(list, ports); !added) {
      return base::Fail(Reason::kInvalid,
                        fmt::format("--host-ports {}: {}", flag, added.error().message));
    }
  }
  return ports;
}

/// Returns the cluster that the manifests are checked against, or only the ranges that flags give.
Result<inspect::Cluster> BaseOf(const LintArguments& arguments, const base::Clock& clock) {
  if (NamesCluster(arguments)) return LoadCluster(arguments.source, clock);
  inspect::ClusterReader reader({.read_at = clock.Now()});
  if (auto added = AddFlagRanges(arguments.source, reader); !added) {
    return tl::unexpected(added.error());
  }
  return std::move(reader).Finish();
}

Result<inspect::LintOptions> OptionsOf(const LintArguments& arguments) {
  inspect::LintOptions options;
  const auto ephemeral = ip::ParsePortRange(arguments.ephemeral_range);
  if (!ephemeral) {
    return base::Fail(Reason::kInvalid, fmt::format("--ephemeral-range {}: {}",
                                                    base::GoQuoted(arguments.ephemeral_range),
                                                    ephemeral.error().message));
  }
  options.ephemeral = *ephemeral;
  auto host_ports = HostPortsOf(arguments.host_ports);
  if (!host_ports) return tl::unexpected(host_ports.error());
  options.host_ports = *std::move(host_ports);
  options.has_cluster = NamesCluster(arguments);
  return options;
}

std::string RenderedFindings(const LintArguments& arguments, const inspect::LintReport& report,
                             const LintSource& source, std::string_view version) {
  const std::string& format = arguments.format;
  if (format == "json") return codec::WriteJson(LintDocument(report, source), {.indent = 2}) + "\n";
  if (format == "yaml") {
    return codec::WriteYaml(LintDocument(report, source), codec::YamlOrder::kAsGiven);
  }
  if (format == "github") return LintGithub(report);
  if (format == "sarif") return codec::WriteJson(LintSarif(report, version), {.indent = 2}) + "\n";
  if (format == "junit") return LintJunit(report, *inspect::SeverityNamed(arguments.fail_on));
  return LintText(report, source, DetectStyle({.narrowest = 40}));
}

int ExitCodeOf(const inspect::LintReport& report, LintSeverity fails) {
  const auto& findings = report.findings;
  const auto unreadable = [](const inspect::LintFinding& finding) {
    return finding.rule == inspect::LintRule::kUnreadable;
  };
  if (std::ranges::any_of(findings, unreadable)) return kBadUsage;
  const auto counts = [fails](const inspect::LintFinding& finding) {
    return finding.severity >= fails;
  };
  return std::ranges::any_of(findings, counts) ? kFailed : kFine;
}

}  // namespace

int RunLint(const LintArguments& arguments, std::string_view version) {
  if (const auto good = CheckLintArguments(arguments); !good) {
    return ReportError("lint", good.error());
  }
  auto options = OptionsOf(arguments);
  if (!options) return ReportError("lint", options.error());
  const base::SystemClock clock;
  auto cluster = BaseOf(arguments, clock);
  if (!cluster) return ReportError("lint", cluster.error());
  if (!cluster->name_space.empty()) options->name_space = cluster->name_space;
  if (!arguments.name_space.empty()) options->name_space = arguments.name_space;
  LintSource source;
  if (options->has_cluster) source = {.cluster = cluster->source, .ranges = RangeSources(*cluster)};
  const std::vector<inspect::Manifest> manifests = ReadManifests(arguments.paths);
  const inspect::LintBase base = inspect::WithManifests(*std::move(cluster), manifests);
  options->addresses_known = base.addresses_known;
  const inspect::Census census(base.cluster);
  const inspect::LintReport report = inspect::Lint(manifests, census, *options);
  if (!PrintOut(RenderedFindings(arguments, report, source, version))) return kFailed;
  return ExitCodeOf(report, *inspect::SeverityNamed(arguments.fail_on));
}

}  // namespace berth::cli
