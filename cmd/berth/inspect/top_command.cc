#include "berth/inspect/top_command.h"

#include "berth/inspect/show.h"
#include "berth/inspect/top_document.h"
#include "berth/inspect/top_text.h"
#include "inspect/top.h"

namespace berth::cli {

int RunTop(const TopArguments& arguments) {
  const Answer answer{.text =
                          [](const inspect::Census& census, const Style& style, bool wide) {
                            return TopText(census.cluster(), inspect::MakeTop(census, {}), style,
                                           wide);
                          },
                      .document =
                          [](const inspect::Census& census) {
                            return TopDocument(census.cluster(), inspect::MakeTop(census, {}));
                          }};
  return Show("top", arguments.source, arguments.output, answer);
}

}  // namespace berth::cli
