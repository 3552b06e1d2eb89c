#include "berth/inspect/fact_list.h"

#include <algorithm>
#include <utility>

#include "berth/text.h"

namespace berth::cli {
namespace {

constexpr size_t kTwoColumns = 60;  // From this width on, the texts stand beside the labels.

}  // namespace

void FactList::Add(std::string_view label, std::string text, std::string_view lead, Color color) {
  if (text.empty()) return;
  facts_.push_back({.label = std::string(label),
                    .text = std::move(text),
                    .lead = std::string(lead),
                    .color = color});
}

std::string FactList::Text() const {
  size_t label_width = 0;
  for (const Fact& fact : facts_) label_width = std::max(label_width, DisplayWidth(fact.label));
  const bool beside = paint_.width() >= kTwoColumns;
  const size_t column = beside ? kIndent + label_width + kColumnGap : 2 * kIndent;
  std::string out;
  for (const Fact& fact : facts_) {
    std::string lines = Wrapped(fact.text, column, paint_.prose_width());
    if (!fact.lead.empty() && lines.compare(column, fact.lead.size(), fact.lead) == 0) {
      lines.replace(column, fact.lead.size(), paint_.In(fact.color, fact.lead));
    }
    const std::string label = std::string(kIndent, ' ') + fact.label;
    if (beside) {
      out += lines.replace(0, column, PadRight(label, column));
    } else {
      if (!fact.label.empty()) out.append(label).append("\n");
      out += lines;
    }
  }
  return out;
}

}  // namespace berth::cli
