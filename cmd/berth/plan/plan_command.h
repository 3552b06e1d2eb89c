// Runs `berth plan`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

/// The arguments as given. RunPlan checks them.
struct PlanArguments {
  std::vector<std::string> ranges;
  std::string output = "table";
  std::optional<std::string> static_band;
  std::optional<std::string> used;
};

/// Prints the plan, or a sentence for each problem to standard error. Returns the exit code.
int RunPlan(const PlanArguments& arguments);

}  // namespace berth::cli
