// The places where a test can get between the engine and the machine.
#pragma once

#include <rocksdb/env.h>

#include <chrono>
#include <memory>

#include "store/rocks/data_dir.h"
#include "store/rocks/disk_guard.h"
#include "store/rocks/rocks_engine.h"

namespace berth::store::rocks {

struct Seams {
  rocksdb::Env* env = nullptr;  // The files for RocksDB. Null means the operating system's.
  DiskGuard::FreeBytes free_bytes = FreeBytes;
  std::chrono::milliseconds housekeeping{1000};
  std::chrono::milliseconds retry{1000};
};

/// Opens a store as RocksEngine::Open does.
base::Result<std::unique_ptr<RocksEngine>> OpenWith(const RocksOptions& options, const Seams& seams,
                                                    base::Logger& log, const base::Clock& clock);

}  // namespace berth::store::rocks
