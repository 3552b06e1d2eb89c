// Opens fences of ranges that somebody has closed and never opened again: a replica that died in
// the middle of a change.
//
// Threads: the controllers' one.
#pragma once

#include "base/clock.h"
#include "controllers/context.h"

namespace berth::controllers {

class FenceKeeper {
 public:
  explicit FenceKeeper(const Context& context);

  void Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  Context context_;
  base::SteadyTime due_;
};

}  // namespace berth::controllers
