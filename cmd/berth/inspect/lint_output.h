// The report of `berth lint` for people, for scripts and for pipelines. Pure.
#pragma once

#include <string>
#include <string_view>

#include "berth/terminal.h"
#include "codec/value.h"
#include "inspect/lint.h"

namespace berth::cli {

/// What the manifests were checked against. Empty without a cluster.
struct LintSource {
  std::string cluster = {};  ///< Its name.
  std::string ranges = {};   ///< Where its ranges come from.
};

/// Returns the text for people.
std::string LintText(const inspect::LintReport& report, const LintSource& source,
                     const Style& style);

/// Returns the document for scripts.
codec::Value LintDocument(const inspect::LintReport& report, const LintSource& source);

/// Returns workflow commands of GitHub Actions, which show findings beside the changed lines.
std::string LintGithub(const inspect::LintReport& report);

/// Returns a log in the format SARIF 2.1.0, for code scanning.
codec::Value LintSarif(const inspect::LintReport& report, std::string_view version);

/// Returns a JUnit report. Findings below `fails` are not failures.
std::string LintJunit(const inspect::LintReport& report, inspect::LintSeverity fails);

}  // namespace berth::cli
