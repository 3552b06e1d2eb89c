// What would be if a range had other values: its bands, what is free, when it is full, what blocks
// the change, and the commands that make it. Nothing is changed. Pure.
//
// Answers point into the census and the cluster, which must outlive them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alloc/layout.h"
#include "base/result.h"
#include "inspect/blockers.h"
#include "inspect/census.h"
#include "inspect/growth.h"
#include "inspect/ready_command.h"
#include "inspect/top.h"

namespace berth::inspect {

/// A range as it is or would be.
struct RangeFuture {
  std::string text = {};
  alloc::Interval all = {};
  RangeFigures figures = {};
  TimeToFull full = {};
};

struct WhatIf {
  /// The ranges that there would be instead: the one that was asked about first, then the one of
  /// the other family of the same object, if it has two.
  std::vector<WrittenRange> to = {};
  RangeFuture now = {};
  RangeFuture then = {};
  /// The answers of FindBlockersOf.
  std::vector<Blockers> blockers = {};
  std::vector<std::string> notes = {};      ///< Sentences.
  std::vector<ReadyCommand> commands = {};  ///< In the order in which they are to be run.
};

/// Returns what there is now.
RangeFuture FutureNow(const TopRange& range);

/// Returns what would be. `to` has a CIDR or ports, at most one of each family; a family that is
/// not given keeps its range.
///
/// Fails with kInvalid, with a sentence without a full stop, if a text cannot be read, if the
/// server itself would not accept it, or if it is what there is.
base::Result<WhatIf> AskWhatIf(const Census& census, const TopRange& range,
                               const std::vector<std::string>& to);

}  // namespace berth::inspect
