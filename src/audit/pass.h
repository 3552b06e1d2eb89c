// One pass of the auditor over everything that a store says about addresses and ports. Facts are
// added one by one, in any order, and Finish compares them. Nothing comes from the allocator's own
// index, because that would check the allocator against itself.
//
//   Pass pass({.keeps = Keeps::kRecords, .revision = 4711});
//   for (...) pass.AddService(...);
//   for (...) pass.AddRecord(...);
//   const Report report = std::move(pass).Finish();
//
// All facts must be those of one revision. A pass costs memory in proportion to the values that
// Services hold and records name, about a hundred bytes for a Service with one value and its
// record, and no longer than the pass lives. It costs least if Services are added before records.
// Pure.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "audit/facts.h"
#include "audit/finding.h"

namespace berth::audit {

struct PassOptions {
  Keeps keeps = Keeps::kRecords;
  int64_t revision = 0;
  /// Called now and then while the pass works, so that a caller can make a pause, show progress or
  /// keep other threads from waiting. May be empty.
  std::function<void()> pause = {};
};

class Pass {
 public:
  explicit Pass(PassOptions options);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// Replaces PassOptions::keeps, for a caller that learns it on the way.
  void SetKeeps(Keeps keeps);

  void AddService(const ServiceFacts& service);
  void AddRecord(const RecordFacts& record);
  void AddRange(const RangeObjectFacts& range);
  void AddBitmap(const BitmapFacts& bitmap);
  /// Adds a stored value that cannot be decoded. `error` says why.
  void AddUndecodable(const std::string& key, const std::string& error);

  Report Finish() &&;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::audit
