#include "berth/plan/plan_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/plan/plan.h"
#include "berth/plan/plan_document.h"
#include "berth/plan/plan_text.h"
#include "berth/plan/used.h"
#include "berth/program_name.h"
#include "berth/terminal.h"
#include "berth/text.h"
#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::cli {
namespace {

int PlanProblem(std::string_view problem) {
  fmt::print(stderr, "{}", AsInvoked(fmt::format("berth plan: {}\n", problem)));
  return kBadUsage;
}

/// Adds the values in use to the plan. Returns what is wrong with the file, if anything.
std::optional<std::string> AddUsedFile(Plan& plan, const std::string& path) {
  const base::Result<std::string> content = ReadAll(path, kMaxUsedBytes);
  const std::string name = path == "-" ? "standard input" : base::GoQuoted(path);
  if (!content) return fmt::format("--used: cannot read {}: {}", name, content.error().message);
  base::Result<Used> used = ReadUsed(*content);
  if (!used) return fmt::format("--used: {}: {}", name, used.error().message);
  AddUsage(plan, *std::move(used));
  return std::nullopt;
}

std::string Rendered(const Plan& plan, const PlanArguments& arguments) {
  const std::string source = arguments.used.value_or("");
  if (arguments.output == "json") {
    return codec::WriteJson(PlanDocument(plan, source), {.indent = 2}) + "\n";
  }
  if (arguments.output == "yaml") {
    const std::string yaml =
        codec::WriteYaml(PlanDocument(plan, source), codec::YamlOrder::kAsGiven);
    return yaml.ends_with('\n') ? yaml : yaml + "\n";
  }
  const std::string shown = source == "-" ? "standard input" : base::ToVisible(source);
  return PlanText(plan, shown, DetectStyle());
}

}  // namespace

int RunPlan(const PlanArguments& arguments) {
  if (arguments.output != "table" && arguments.output != "json" && arguments.output != "yaml") {
    return PlanProblem(fmt::format("-o {}: must be table, json or yaml; see berth plan --help",
                                   base::GoQuoted(arguments.output)));
  }
  std::optional<U128> static_band;
  if (arguments.static_band) {
    static_band = base::ParseDecimal(*arguments.static_band);
    if (!static_band) {
      return PlanProblem(fmt::format(
          "--static-band {}: must be a whole number of values, 0 or more; see berth plan --help",
          base::GoQuoted(*arguments.static_band)));
    }
  }
  auto plan = PlanRanges(arguments.ranges, static_band);
  if (!plan) {
    for (const std::string& problem : plan.error()) PlanProblem(problem);
    return kBadUsage;
  }
  if (arguments.used) {
    if (const auto problem = AddUsedFile(*plan, *arguments.used)) return PlanProblem(*problem);
  }
  return PrintOut(Rendered(*plan, arguments)) ? kFine : kFailed;
}

}  // namespace berth::cli
