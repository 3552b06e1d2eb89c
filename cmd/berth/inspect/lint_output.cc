#include "berth/inspect/lint_output.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/escape.h"
#include "base/go_text.h"
#include "berth/paint.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

using inspect::LintFinding;
using inspect::LintReport;
using inspect::LintSeverity;

constexpr size_t kLintIndent = 4;
constexpr size_t kMostSkippedShown = 3;

Color ColorOf(LintSeverity severity) {
  switch (severity) {
    case LintSeverity::kNote:
      return Color::kDim;
    case LintSeverity::kWarning:
      return Color::kYellow;
    case LintSeverity::kError:
      break;
  }
  return Color::kRed;
}

/// Returns "2 errors, 1 warning", or "nothing found".
std::string Totals(const LintReport& report) {
  std::string text;
  for (const LintSeverity severity :
       {LintSeverity::kError, LintSeverity::kWarning, LintSeverity::kNote}) {
    const size_t count = report.Count(severity);
    const std::string_view one = inspect::TextOf(severity);
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += Plural(count, one, fmt::format("{}s", one));
  }
  return text.empty() ? "Nothing found" : text;
}

std::string Summary(const LintReport& report) {
  std::string text =
      fmt::format("{} in {} with {}", Totals(report), Plural(report.files, "file", "files"),
                  Plural(report.services, "Service", "Services"));
  if (report.values > 0) {
    text += fmt::format(" and {}", Plural(report.values, "hard-coded value", "hard-coded values"));
  }
  if (report.ignored > 0) text += fmt::format("; {} ignored", report.ignored);
  if (report.left_out > 0) text += fmt::format("; {} more are not shown", report.left_out);
  return text + ".";
}

std::string PlaceOfFinding(const LintFinding& finding) {
  return fmt::format("{}:{}:{}", base::ToVisible(finding.file), finding.mark.line,
                     finding.mark.column);
}

/// Returns why the finding matters and what to do.
std::string Explanation(const LintFinding& finding) {
  if (finding.why.empty() || finding.advice.empty()) return finding.why + finding.advice;
  return finding.why + " " + finding.advice;
}

codec::Value DocumentOf(const LintFinding& finding) {
  codec::Value out;
  out.Set("rule", inspect::InfoOf(finding.rule).id);
  out.Set("severity", inspect::TextOf(finding.severity));
  out.Set("file", finding.file);
  out.Set("line", finding.mark.line);
  out.Set("column", finding.mark.column);
  const auto text = [&](const char* key, const std::string& value) {
    out.Set(key, value.empty() ? codec::Value() : codec::Value(value));
  };
  text("service", finding.service);
  text("field", finding.field);
  text("value", finding.value);
  text("message", finding.message);
  text("why", finding.why);
  text("advice", finding.advice);
  text("instead", finding.instead.value_or(""));
  codec::Value& chance = out.Set("chance", codec::Value());
  if (finding.chance) {
    constexpr double kMany = 100;
    chance.Set("freeValues", base::ToDecimal(finding.chance->free));
    chance.Set("ofOnePick", finding.chance->OfPicks(1));
    chance.Set("of100Picks", finding.chance->OfPicks(kMany));
  }
  return out;
}

}  // namespace

std::string LintText(const LintReport& report, const LintSource& source, const Style& style) {
  const Paint paint(style);
  std::string out;
  std::string_view file;
  size_t skipped = 0;  // Documents of charts: a few show what is meant.
  for (const LintFinding& finding : report.findings) {
    const bool skips = finding.rule == inspect::LintRule::kNotRendered && finding.service.empty();
    if (skips && ++skipped > kMostSkippedShown) continue;
    if (!out.empty() && finding.file != file) out += "\n";
    file = finding.file;
    out += fmt::format(
        "{}: {}: {} {}\n", paint.In(Color::kBold, PlaceOfFinding(finding)),
        paint.In(ColorOf(finding.severity), inspect::TextOf(finding.severity)), finding.message,
        paint.In(Color::kDim, fmt::format("[{}]", inspect::InfoOf(finding.rule).id)));
    out += Wrapped(finding.why, kLintIndent, style.width);
    out += Wrapped(finding.advice, kLintIndent, style.width);
  }
  if (skipped > kMostSkippedShown) {
    out += fmt::format("\n{} more documents are templates and were not checked.\n",
                       skipped - kMostSkippedShown);
  }
  if (!out.empty()) out += "\n";
  out += Wrapped(Summary(report), 0, style.width);
  for (const std::string& limit : report.limits) out += Wrapped(limit, 0, style.width);
  if (!source.ranges.empty()) out += Wrapped(source.ranges, 0, style.width);
  return out;
}

codec::Value LintDocument(const LintReport& report, const LintSource& source) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? codec::Value() : codec::Value(text);
  };
  codec::Value out;
  codec::Array findings;
  for (const LintFinding& finding : report.findings) findings.push_back(DocumentOf(finding));
  out.Set("findings", std::move(findings));
  codec::Value& counts = out.Set("counts", codec::Value());
  for (const LintSeverity severity :
       {LintSeverity::kError, LintSeverity::kWarning, LintSeverity::kNote}) {
    counts.Set(std::string(inspect::TextOf(severity)), report.Count(severity));
  }
  counts.Set("ignored", report.ignored);
  counts.Set("leftOut", report.left_out);
  counts.Set("files", report.files);
  counts.Set("services", report.services);
  counts.Set("values", report.values);
  out.Set("cluster", text_or_null(source.cluster));
  out.Set("rangeSources", text_or_null(source.ranges));
  codec::Array limits(report.limits.begin(), report.limits.end());
  out.Set("limits", std::move(limits));
  return out;
}

namespace {

/// Escapes the data of a workflow command. A property needs more than a message.
std::string GithubEscaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      case ':':
        out += property ? "%3A" : ":";
        break;
      case ',':
        out += property ? "%2C" : ",";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string XmlEscaped(std::string_view text) { return base::EscapedMarkup(base::ToVisible(text)); }

}  // namespace

std::string LintGithub(const LintReport& report) {
  std::string out;
  for (const LintFinding& finding : report.findings) {
    const std::string_view level =
        finding.severity == LintSeverity::kNote ? "notice" : inspect::TextOf(finding.severity);
    std::string message = finding.message + ".";
    if (const std::string more = Explanation(finding); !more.empty()) message += " " + more;
    out += fmt::format(
        "::{} file={},line={},col={},title={}::{}\n", level, GithubEscaped(finding.file, true),
        finding.mark.line, finding.mark.column,
        GithubEscaped(fmt::format("berth lint: {}", inspect::InfoOf(finding.rule).id), true),
        GithubEscaped(message, false));
  }
  out += Summary(report) + "\n";
  return out;
}

std::string LintJunit(const LintReport& report, LintSeverity fails) {
  std::string cases;
  size_t failures = 0;
  for (const LintFinding& finding : report.findings) {
    const std::string_view id = inspect::InfoOf(finding.rule).id;
    const std::string text =
        fmt::format("{}: {}. {}", PlaceOfFinding(finding), finding.message, Explanation(finding));
    cases += fmt::format(
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\">\n",
        XmlEscaped(finding.file),
        XmlEscaped(fmt::format("{} {} line {}", id, finding.service, finding.mark.line)),
        XmlEscaped(finding.file), finding.mark.line);
    if (finding.severity >= fails) {
      ++failures;
      cases += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", id,
                           XmlEscaped(finding.message), XmlEscaped(text));
    } else {
      cases += fmt::format("      <system-out>{}</system-out>\n", XmlEscaped(text));
    }
    cases += "    </testcase>\n";
  }
  size_t tests = report.findings.size();
  if (tests == 0) {
    tests = 1;
    cases = fmt::format("    <testcase classname=\"berth lint\" name=\"{}\"/>\n",
                        XmlEscaped(Summary(report)));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"berth lint\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n{}"
      "  </testsuite>\n</testsuites>\n",
      tests, failures, cases);
}

}  // namespace berth::cli
