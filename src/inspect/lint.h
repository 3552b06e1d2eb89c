// Checks manifests before they are applied: hard-coded addresses and node ports that another
// Service can get first, that are taken, asked for twice, or cannot be served. Each finding says
// where it is, why it matters, and which value is safe instead. Pure.
//
//   LintBase base = WithManifests(cluster, manifests);
//   const Census census(base.cluster);
//   LintReport report = Lint(manifests, census, options);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/uint128.h"
#include "codec/yaml_marks.h"
#include "inspect/census.h"
#include "inspect/host_ports.h"
#include "inspect/lint_rules.h"
#include "inspect/manifest.h"
#include "ip/port_range.h"

namespace berth::inspect {

/// How likely a dynamic pick takes a value, when picks are evenly spread.
struct Chance {
  base::U128 free = 0;  ///< Free values of the band that picks come from, this one included.

  double OfPicks(double picks) const;
};

struct LintFinding {
  LintRule rule = LintRule::kInvalidValue;
  LintSeverity severity = LintSeverity::kError;
  std::string file = {};
  codec::TextMark mark = {};
  std::string service = {};  ///< "namespace/name"; empty if it is about a file.
  std::string field = {};    ///< "spec.ports[0].nodePort"; may be empty.
  std::string value = {};
  std::string message = {};                 ///< What is wrong, a sentence without a full stop.
  std::string why = {};                     ///< Why it matters here; may be empty. Sentences.
  std::string advice = {};                  ///< What to do; may be empty. Sentences.
  std::optional<std::string> instead = {};  ///< A safe value.
  std::optional<Chance> chance = {};
};

struct LintOptions {
  std::string name_space = "default";  ///< Of Services that do not say.
  ip::PortRange ephemeral{32768, 60999};
  HostPorts host_ports = UsualHostPorts();
  bool has_cluster = false;      ///< The census shows a cluster, not only ranges.
  bool addresses_known = false;  ///< It has all ranges of addresses, and they are exact.
};

/// The most findings that a report keeps.
inline constexpr size_t kMaxLintFindings = 10'000;

struct LintReport {
  std::vector<LintFinding> findings = {};  ///< By file, line and column.
  size_t left_out = 0;                     ///< Findings beyond kMaxLintFindings.
  size_t ignored = 0;                      ///< Findings that comments and annotations switch off.
  size_t files = 0;
  size_t services = 0;
  size_t values = 0;  ///< Hard-coded addresses and ports.
  /// What was not checked, and what to do about it, in sentences.
  std::vector<std::string> limits = {};

  size_t Count(LintSeverity severity) const;
};

/// A cluster with the ranges and records that the manifests define.
struct LintBase {
  Cluster cluster;
  bool addresses_known = false;  ///< Before the manifests were added.
};
LintBase WithManifests(Cluster cluster, const std::vector<Manifest>& manifests);

LintReport Lint(const std::vector<Manifest>& manifests, const Census& census,
                const LintOptions& options);

}  // namespace berth::inspect
