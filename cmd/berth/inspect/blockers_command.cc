#include "berth/inspect/blockers_command.h"

#include <algorithm>

#include "berth/exit_code.h"
#include "berth/inspect/blockers_text.h"
#include "berth/inspect/show.h"

namespace berth::cli {

int RunBlockers(const BlockersArguments& arguments) {
  const auto find = [&](const inspect::Census& census) {
    return inspect::FindBlockers(census, arguments.question);
  };
  return Show(
      "blockers", arguments.source, arguments.output,
      {.check = [&](const inspect::Census& census) -> base::Result<void> {
         const auto found = find(census);
         if (!found) return tl::unexpected(found.error());
         return {};
       },
       .text = [&](const inspect::Census& census, const Style& style,
                   bool wide) { return BlockersText(census, find(census).value(), style, wide); },
       .document =
           [&](const inspect::Census& census) {
             return BlockersDocument(census, find(census).value());
           },
       .needs_all_services = true,
       .exit_code =
           [&](const inspect::Census& census) {
             const auto found = find(census).value();
             const bool none = std::ranges::all_of(
                 found, [](const auto& answer) { return answer.blockers.empty(); });
             return none ? kFine : kFailed;
           }});
}

}  // namespace berth::cli
