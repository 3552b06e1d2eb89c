// Commands that a person can copy into a shell. Every word of them is quoted where a shell needs
// that, and names that no server accepts are never part of one. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "inspect/census.h"
#include "inspect/cluster.h"
#include "inspect/question.h"

namespace berth::inspect {

/// Something to type or to paste.
struct ReadyCommand {
  std::string title = {};
  std::string command = {};
};

/// Returns the text in single quotes if a shell would not read it as one word.
std::string ShellWord(std::string_view text);

/// Returns whether a name can be that of an object, so that a command may have it.
bool IsObjectName(std::string_view name);

/// Return what shows a Service, and who has a value.
std::vector<ReadyCommand> CommandsFor(const Service& service);
std::vector<ReadyCommand> CommandsFor(const alloc::PoolValue& value);

/// Returns what keeps a value from all Services, on a cluster that Berth serves.
ReadyCommand ReserveCommand(const alloc::PoolValue& value);

/// Returns what shows what blocks a change of the range.
ReadyCommand BlockersCommand(const RangeRef& range);

/// Returns what changes the object of a range to `to`. Empty if no object has it, or if it cannot
/// be changed. `now` has the ranges of the object, and `to` those that there would be, one of each
/// family. `blocked` says that values are in the way.
std::vector<ReadyCommand> ChangeCommands(const Cluster& cluster, const RangeRef& range,
                                         const std::vector<WrittenRange>& to, bool blocked);

}  // namespace berth::inspect
