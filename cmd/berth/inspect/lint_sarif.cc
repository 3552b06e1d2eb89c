// The report of `berth lint` as SARIF 2.1.0 (OASIS), as code scanning services read it.
#include <fmt/format.h>

#include <map>
#include <string>

#include "berth/inspect/lint_output.h"
#include "inspect/safe_values.h"

namespace berth::cli {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;
using inspect::LintFinding;

/// Returns a path as a relative reference of a URI, or as a file URI if it is absolute.
std::string UriOf(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  while (path.starts_with("./")) path.remove_prefix(2);
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
  }
  return out;
}

Array RuleDescriptors() {
  Array rules;
  for (const inspect::RuleInfo& info : inspect::LintRules()) {
    rules.push_back(Object{
        {"id", info.id},
        {"shortDescription", Object{{"text", info.summary}}},
        {"fullDescription", Object{{"text", info.help}}},
        {"help", Object{{"text", info.help}}},
        {"defaultConfiguration", Object{{"level", inspect::TextOf(info.severity)}}},
    });
  }
  return rules;
}

Value ResultOf(const LintFinding& finding, const std::string& fingerprint) {
  std::string text = finding.message + ".";
  for (const std::string& more : {finding.why, finding.advice}) {
    if (!more.empty()) text += " " + more;
  }
  const Object location{
      {"physicalLocation", Object{{"artifactLocation", Object{{"uri", UriOf(finding.file)}}},
                                  {"region", Object{{"startLine", finding.mark.line},
                                                    {"startColumn", finding.mark.column}}}}}};
  return Object{{"ruleId", inspect::InfoOf(finding.rule).id},
                {"ruleIndex", static_cast<int64_t>(finding.rule)},
                {"level", inspect::TextOf(finding.severity)},
                {"message", Object{{"text", text}}},
                {"locations", Array{location}},
                {"partialFingerprints", Object{{"berthLint/v1", fingerprint}}}};
}

}  // namespace

Value LintSarif(const inspect::LintReport& report, std::string_view version) {
  Array results;
  std::map<uint64_t, size_t> seen;
  for (const LintFinding& finding : report.findings) {
    // The line is not part of it, so that a finding stays the same when lines move.
    const uint64_t hash = inspect::StableHash(
        fmt::format("{}\n{}\n{}\n{}\n{}", inspect::InfoOf(finding.rule).id, finding.file,
                    finding.service, finding.field, finding.value));
    results.push_back(ResultOf(finding, fmt::format("{:016x}:{}", hash, ++seen[hash])));
  }
  const Object driver{
      {"name", "berth lint"}, {"semanticVersion", version}, {"rules", RuleDescriptors()}};
  const Object run{{"tool", Object{{"driver", driver}}},
                   {"columnKind", "unicodeCodePoints"},
                   {"results", std::move(results)}};
  return Object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs", Array{run}}};
}

}  // namespace berth::cli
