// What every part of the engine needs: the etcd client, the layout of the store, and where to
// report. The engine makes one and outlives its parts.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/log.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_layout.h"
#include "store/etcd/known.h"
#include "store/etcd/status.h"
#include "store/etcd/time_line.h"

namespace berth::store::etcd {

struct Context {
  Client& client;
  const Layout& layout;
  KnownRevisions& known;
  Status& status;
  TimeLine& time_line;
  base::Logger& log;
  const base::Clock& clock;
  /// True once the engine is closing. Then parts start nothing new and wait for nothing.
  const std::atomic<bool>& stop;
};

}  // namespace berth::store::etcd
