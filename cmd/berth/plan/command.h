// `berth plan`: from its arguments to its exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

/// As they were given; RunPlan checks them.
struct PlanArguments {
  std::vector<std::string> ranges;
  std::string output = "table";
  std::optional<std::string> static_band;
  std::optional<std::string> used;
};

/// Prints the plan, or to standard error a sentence for each thing that is wrong.
int RunPlan(const PlanArguments& arguments);

}  // namespace berth::cli
