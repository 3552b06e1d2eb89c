// Any text can be read as a manifest and checked. Each finding has a place and a sentence, and the
// same text has the same findings.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "inspect/cluster_reader.h"
#include "inspect/lint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace inspect = berth::inspect;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lint = [&] {
    inspect::ClusterReader reader({});
    fuzz::Require(reader.AddGivenRange("10.96.0.0/24", "a flag", true).has_value());
    std::vector<inspect::Manifest> manifests;
    manifests.push_back(inspect::ReadManifest("file", text));
    const inspect::LintBase base = inspect::WithManifests(std::move(reader).Finish(), manifests);
    const inspect::Census census(base.cluster);
    return inspect::Lint(manifests, census, {.addresses_known = true});
  };
  const inspect::LintReport report = lint();
  for (const inspect::LintFinding& finding : report.findings) {
    fuzz::Require(finding.mark.line >= 1 && finding.mark.column >= 1);
    fuzz::Require(finding.mark.line <= size + 1);
    fuzz::Require(!finding.message.empty() && finding.file == "file");
  }
  const inspect::LintReport again = lint();
  fuzz::Require(again.findings.size() == report.findings.size());
  for (size_t i = 0; i < again.findings.size(); ++i) {
    fuzz::Require(again.findings[i].message == report.findings[i].message);
    fuzz::Require(again.findings[i].instead == report.findings[i].instead);
  }
  return 0;
}
