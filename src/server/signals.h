// Wakes watches: one http::Signal per scope, shared by all watches of it. A watch holds its signal;
// with the last one it is gone.
//
// Threads: any.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>

#include "base/mutex.h"
#include "http/source.h"

namespace berth::server {

class Signals {
 public:
  std::shared_ptr<http::Signal> For(const std::string& scope) EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<http::Signal>> signals_ GUARDED_BY(mutex_);
};

}  // namespace berth::server
