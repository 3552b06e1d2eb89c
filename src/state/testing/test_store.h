// For tests only: a store in memory with the resources of state/testing/objects.h. Tests write to
// it directly.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "state/resource.h"
#include "state/testing/objects.h"
#include "store/blocking.h"
#include "store/memory_engine.h"

namespace berth::state::testing {

class TestStore {
 public:
  /// Opens a new, empty store on a clock that only the test advances.
  void Open(store::MemoryOptions options = {}) { Open(std::move(options), clock); }
  /// Opens a new, empty store on the system's clock.
  void OpenForThreads(store::MemoryOptions options = {}) { Open(std::move(options), system_clock); }

  int64_t Put(const std::string& key, const std::string& value) {
    return store::CommitNow(*engine, {.puts = {{.key = key, .value = value}}}).puts[0].value;
  }
  int64_t Delete(const std::string& key) {
    return store::CommitNow(*engine, {.deletes = {key}}).deletes[0].value;
  }
  /// Returns how long the store still keeps the key. Returns 0 if the key does not expire or does
  /// not exist.
  std::chrono::seconds TtlOf(const std::string& key) const {
    const auto page = store::ScanPageNow(*engine, {.prefix = key, .limit = 1, .with_ttl = true});
    if (!page || page->entries.empty()) return std::chrono::seconds(0);
    return page->entries[0].ttl.value_or(std::chrono::seconds(0));
  }
  bool Compact(int64_t revision) {
    return store::CompactNow(*engine, store::Revision{revision}).has_value();
  }
  /// Makes every watch expire that has not been read up to the present.
  void LoseHistory() {
    for (int i = 0; i < 200; ++i) Put("/registry/other/noise", std::string(1000, 'x'));
    Compact(store::CurrentNow(*engine)->value);
  }

  base::ManualClock clock;
  base::SystemClock system_clock;
  base::Logger log{{.sink = [](std::string_view) {}}, clock};
  const Resources resources = MakeResources();
  std::unique_ptr<store::MemoryEngine> engine;

 private:
  void Open(store::MemoryOptions options, const base::Clock& time) {
    engine = store::MemoryEngine::Make(std::move(options), time);
  }
};

}  // namespace berth::state::testing
