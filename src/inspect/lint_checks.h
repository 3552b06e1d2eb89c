// The checks of lint, one file for each group of rules, and what they share. Internal.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/lint.h"
#include "inspect/safe_values.h"

namespace berth::inspect {

/// A value that a Service of the files asks for.
struct Asked {
  alloc::PoolValue value = {};
  bool health_check = false;
  std::string field = {};  ///< The first field that has it.
};

/// A Service of the files.
struct LintService {
  const Manifest* manifest = nullptr;
  const ManifestService* source = nullptr;
  std::string key = {};        ///< "namespace/name", the identity of a Service.
  codec::Value complete = {};  ///< With defaults, as far as it can be decoded; for CheckValidity.
  bool decoded = false;        ///< `complete` is what the API server would read.
  std::vector<Asked> asked = {};     ///< Each value once.
  const Service* present = nullptr;  ///< The same Service in the cluster, or null.
};

class LintContext {
 public:
  LintContext(const Census& census, const LintOptions& options);

  const Census& census() const { return census_; }
  const LintOptions& options() const { return options_; }
  SafeValues& safe() { return safe_; }

  /// Returns the ranges that are known for sure: all of ports, and those of addresses that are not
  /// guessed.
  const std::vector<RangeRef>& ranges() const { return ranges_; }
  /// Returns those of them that contain the value, the smallest first.
  std::vector<RangeRef> RangesOf(const alloc::PoolValue& value) const;
  const RangeFigures& FiguresOf(const RangeRef& range);

  /// Returns whether all ranges of the pool are known.
  bool KnowsRanges(alloc::PoolId pool) const {
    return pool == alloc::PoolId::kPorts || options_.addresses_known;
  }

  /// Returns whether the Service has the value in the cluster.
  bool Holds(const LintService& service, const alloc::PoolValue& value) const;

  /// Adds a finding at a field. The severity is that of the rule. The reference is valid until the
  /// next one is added.
  LintFinding& Add(LintRule rule, const LintService& service, std::string_view field);
  /// Adds a finding about an asked value, with its text.
  LintFinding& Add(LintRule rule, const LintService& service, const Asked& asked);
  /// Returns whether a field has a finding of at least this severity already.
  bool HasFinding(const LintService& service, std::string_view field) const;

  /// Fills in a safe value and the advice to use it.
  void Propose(LintFinding& finding, const LintService& service, const Asked& asked);

  std::vector<LintFinding>& findings() { return findings_; }

 private:
  std::vector<RangeRef> RangesToProposeFrom();

  const Census& census_;
  const LintOptions& options_;
  std::vector<RangeRef> ranges_;
  std::map<const alloc::RangeRow*, RangeFigures> figures_;
  SafeValues safe_;
  std::vector<LintFinding> findings_;
  std::set<std::pair<const ManifestService*, std::string>, std::less<>> fields_;
};

/// Returns "nodePort 30088", "clusterIP 10.96.0.10" and so on, for the beginning of a sentence.
std::string NameOf(const Asked& asked);

/// Returns whether a range may give the value to any Service that asks for none.
bool IsAtRisk(const RangeRef& range, const alloc::PoolValue& value);

/// The sentences about a value, which running Services get too. `name` is what NameOf returns.
std::string DynamicBandText(std::string_view name, std::string_view service, const RangeRef& range,
                            const alloc::Interval& band);
std::string HostPortText(std::string_view name, std::string_view service, std::string_view program);
std::string EphemeralText(std::string_view name, std::string_view service,
                          const ip::PortRange& ephemeral);

/// Reads a Service of the files: decodes it, sets defaults, and finds the values that it asks for.
/// Adds findings about fields that cannot be read.
LintService ReadLintService(LintContext& context, const Manifest& manifest,
                            const ManifestService& source);

/// Checks what the API server checks before it allocates: addresses, ports and families.
void CheckValidity(LintContext& context, const LintService& service);
/// Checks that a range has the value and gives it out. Returns false if it found something.
bool CheckRange(LintContext& context, const LintService& service, const Asked& asked);
/// Checks that no other Service of the cluster has the value, and that it is not reserved for
/// another one. Returns false if it found something.
bool CheckTaken(LintContext& context, const LintService& service, const Asked& asked);
/// Checks that a Service of the cluster has the address that it asks for. Returns false if it found
/// something.
bool CheckKept(LintContext& context, const LintService& service, const Asked& asked);
/// Checks that dynamic picks do not take the value.
void CheckBand(LintContext& context, const LintService& service, const Asked& asked);
/// Checks a node port against what the nodes use.
void CheckNodes(LintContext& context, const LintService& service, const Asked& asked);

/// Checks the Services against each other. Returns the asked values that were found to be
/// duplicates of an earlier one, by Service and field.
std::set<std::pair<const ManifestService*, std::string>> CheckTogether(
    LintContext& context, const std::vector<LintService>& services);

}  // namespace berth::inspect
