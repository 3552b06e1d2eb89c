#include "berth/ui/scene_past.h"

#include <memory>
#include <utility>

#include "berth/inspect/past_source.h"
#include "history/history_reader.h"

namespace berth::cli {

ScenePast PastOf(std::string directory, std::function<base::Result<void>()> flush) {
  const auto open = [directory = std::move(directory),
                     flush = std::move(flush)]() -> base::Result<history::HistoryReader> {
    if (flush) {
      if (auto flushed = flush(); !flushed) return tl::unexpected(flushed.error());
    }
    return history::HistoryReader::Open(directory);
  };
  return {.use =
              [open](const inspect::Census& ranges) {
                const auto reader = open();
                return reader ? PastUse(*reader, ranges) : inspect::UseHistory();
              },
          .owners =
              [open](const alloc::PoolValue& value) {
                const auto reader = open();
                return reader ? PastOwners(*reader)(value) : inspect::ValuePast();
              }};
}

}  // namespace berth::cli
