// Parses input for `berth plan --used`: a list or an export of Services.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/plan/plan.h"
#include "berth/plan/plan_document.h"
#include "berth/plan/plan_text.h"
#include "berth/plan/used.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace cli = berth::cli;
  auto used = cli::ReadUsed(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!used) {
    // A problem is one sentence on one line.
    fuzz::Require(!used.error().message.empty());
    fuzz::Require(used.error().message.find('\n') == std::string::npos);
    return 0;
  }
  const size_t uses = used->uses.size();
  auto plan = cli::PlanRanges({"10.96.0.0/16", "fd00:10:96::/112", "30000-32767"});
  cli::AddUsage(*plan, *std::move(used));
  fuzz::Require(plan->used->values <= uses);
  fuzz::Require(!cli::PlanText(*plan, "fuzz", {.utf8 = true}).empty());
  fuzz::Require(!cli::PlanDocument(*plan, "fuzz").IsNull());
  return 0;
}
