#include "berth/inspect/gaps_text.h"

#include <fmt/format.h>

#include "base/go_text.h"
#include "berth/text.h"

namespace berth::cli {

std::string GapsText(const inspect::Cluster& cluster, const Paint& paint) {
  if (cluster.gaps.empty()) return {};
  std::string out = "\n" + paint.In(Color::kYellow, "Not known") + "\n";
  for (const inspect::Gap& gap : cluster.gaps) {
    out += Wrapped(base::ToVisible(gap.what), kIndent, paint.prose_width());
    if (gap.advice.empty()) continue;
    out += Wrapped(fmt::format("{} {}", paint.Char("→", "->"), base::ToVisible(gap.advice)),
                   2 * kIndent, paint.prose_width());
  }
  return out;
}

}  // namespace berth::cli
