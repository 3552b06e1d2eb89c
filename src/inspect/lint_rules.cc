#include "inspect/lint_rules.h"

#include <algorithm>
#include <array>

namespace berth::inspect {
namespace {

constexpr std::array kRules = {
    RuleInfo{LintRule::kDynamicBand, "dynamic-band", LintSeverity::kWarning,
             "A hard-coded value lies outside the static band",
             "Services that ask for no value get one from the dynamic band of a range. A value of "
             "that band may belong to another Service by the time the manifest is applied, and the "
             "API server then refuses it. Use a value of the static band, or leave the field out."},
    RuleInfo{LintRule::kTaken, "taken", LintSeverity::kError,
             "Another Service of the cluster has the value",
             "The API server refuses a Service that asks for a value of another one. Use a free "
             "value, or leave the field out."},
    RuleInfo{
        LintRule::kReserved, "reserved", LintSeverity::kError,
        "The value is reserved, and not for this Service",
        "A record keeps the value for another Service, or from all of them. Use another value, "
        "or change the record."},
    RuleInfo{LintRule::kDuplicateValue, "duplicate-value", LintSeverity::kError,
             "The files ask for one value twice",
             "A value belongs to one Service only, whatever the protocol. The Service that is "
             "applied later is refused. Only protocols of one port of one Service share a number."},
    RuleInfo{LintRule::kHealthCheckPort, "health-check-port", LintSeverity::kError,
             "A health check port collides with another port",
             "Health check ports and node ports come from one range, and a number has one use. "
             "Leave healthCheckNodePort out, or give it a number of its own."},
    RuleInfo{LintRule::kOutOfRange, "out-of-range", LintSeverity::kError,
             "The value lies outside every range",
             "The API server refuses a value that none of its ranges contains."},
    RuleInfo{
        LintRule::kUnusableValue, "unusable-value", LintSeverity::kError,
        "The range never gives the value out",
        "Network and broadcast addresses and excluded values belong to a range, but no Service "
        "can have them."},
    RuleInfo{LintRule::kInvalidValue, "invalid-value", LintSeverity::kError,
             "The API server refuses the field",
             "The value is not an address or not a port, or it does not fit the type of the "
             "Service."},
    RuleInfo{LintRule::kFamily, "ip-family", LintSeverity::kError,
             "The cluster cannot serve the IP families",
             "A Service can have addresses only of families that the cluster has ranges for. The "
             "order of clusterIPs must be that of ipFamilies."},
    RuleInfo{LintRule::kChangedAddress, "changed-address", LintSeverity::kError,
             "The Service has another address in the cluster",
             "A Service keeps its cluster IP for life. To change it, the Service has to be deleted "
             "and created again."},
    RuleInfo{LintRule::kHostPort, "host-port", LintSeverity::kError,
             "Programs on the nodes listen on the node port",
             "A node port is opened on every node. If a program of the node uses the same port, "
             "traffic for it goes to the Service, and the node may be lost."},
    RuleInfo{LintRule::kEphemeralRange, "ephemeral-range", LintSeverity::kWarning,
             "The nodes use the node port for outgoing connections",
             "The kernel picks ports of the ephemeral range for outgoing connections. Such a "
             "connection and the node port disturb each other."},
    RuleInfo{LintRule::kDuplicateService, "duplicate-service", LintSeverity::kNote,
             "The files define a Service more than once",
             "The definition that is applied last counts. That is usual for overlays; check files "
             "of different clusters separately."},
    RuleInfo{LintRule::kNotRendered, "not-rendered", LintSeverity::kNote,
             "A template was not checked",
             "Render templates first, and give the output to `berth lint -`."},
    RuleInfo{LintRule::kBadIgnore, "bad-ignore", LintSeverity::kWarning,
             "An ignore names a rule that does not exist",
             "Write `# berth-lint: ignore RULE reason` with the name of a rule."},
    RuleInfo{LintRule::kUnreadable, "unreadable", LintSeverity::kError, "A file cannot be read",
             "Services in it are not checked."},
    RuleInfo{LintRule::kNoManifest, "no-manifest", LintSeverity::kWarning,
             "A folder has no manifest",
             "Nothing was checked. Name the folder that has the rendered manifests."},
};

}  // namespace

std::string_view TextOf(LintSeverity severity) {
  switch (severity) {
    case LintSeverity::kNote:
      return "note";
    case LintSeverity::kWarning:
      return "warning";
    case LintSeverity::kError:
      break;
  }
  return "error";
}

std::optional<LintSeverity> SeverityNamed(std::string_view text) {
  for (const LintSeverity severity :
       {LintSeverity::kNote, LintSeverity::kWarning, LintSeverity::kError}) {
    if (TextOf(severity) == text) return severity;
  }
  return std::nullopt;
}

std::span<const RuleInfo> LintRules() { return kRules; }

const RuleInfo& InfoOf(LintRule rule) { return kRules[static_cast<size_t>(rule)]; }

const RuleInfo* RuleNamed(std::string_view id) {
  const auto* const found = std::ranges::find(kRules, id, &RuleInfo::id);
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace berth::inspect
