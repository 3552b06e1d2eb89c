// The rules of lint: their names, how severe they are, and what they are for. The names are stable,
// because files and pipelines refer to them. Plain types.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace berth::inspect {

enum class LintSeverity : uint8_t { kNote, kWarning, kError };
/// Returns "note", "warning" or "error".
std::string_view TextOf(LintSeverity severity);
std::optional<LintSeverity> SeverityNamed(std::string_view text);

enum class LintRule : uint8_t {
  kDynamicBand,
  kTaken,
  kReserved,
  kDuplicateValue,
  kHealthCheckPort,
  kOutOfRange,
  kUnusableValue,
  kInvalidValue,
  kFamily,
  kChangedAddress,
  kHostPort,
  kEphemeralRange,
  kDuplicateService,
  kNotRendered,
  kBadIgnore,
  kUnreadable,
  kNoManifest,
};

struct RuleInfo {
  LintRule rule;
  std::string_view id;
  LintSeverity severity;  ///< As a rule; a finding may be less severe.
  std::string_view summary;
  std::string_view help;  ///< Why it matters and what to do.
};

/// Returns all rules, in the order of LintRule.
std::span<const RuleInfo> LintRules();
const RuleInfo& InfoOf(LintRule rule);
/// Returns the rule of this name, or null.
const RuleInfo* RuleNamed(std::string_view id);

}  // namespace berth::inspect
