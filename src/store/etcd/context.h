// What every part of the engine needs: etcd, how the store lies in it, and where to report. Made
// once by the engine, which outlives its parts.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/log.h"
#include "store/etcd/client.h"
#include "store/etcd/known.h"
#include "store/etcd/layout.h"
#include "store/etcd/status.h"

namespace berth::store::etcd {

struct Context {
  Client& client;
  const Layout& layout;
  KnownRevisions& known;
  Status& status;
  base::Logger& log;
  const base::Clock& clock;
  const std::atomic<bool>& stop;  // The engine is closing: start nothing new, wait for nothing.
};

}  // namespace berth::store::etcd
