// Opens the fences of pools that a replica has closed and not opened again, because it ended during
// a change of ranges.
//
// Threads: that of the controllers.
#pragma once

#include "allocation/range_changes.h"
#include "base/clock.h"
#include "controllers/controller_context.h"

namespace berth::controllers {

class FenceKeeper {
 public:
  /// All must outlive it.
  FenceKeeper(const Context& context, allocation::RangeChanges& ranges);

  void Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  Context context_;
  allocation::RangeChanges& ranges_;
  base::SteadyTime due_;
};

}  // namespace berth::controllers
