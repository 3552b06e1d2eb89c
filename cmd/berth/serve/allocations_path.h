// /berth/v1/allocations: the form in which the store keeps allocations, for `berth
// migrate-allocations`.
//
//   GET                                     returns the form and the progress of a switch
//   POST ?to=records|bitmaps[&force=true]   starts a switch; 202, or 409 if another one is running
//
// Answers are JSON, see AllocationStatus.
#pragma once

#include <optional>
#include <string>

#include "allocation/claims/allocation_form.h"
#include "base/result.h"
#include "codec/value.h"
#include "controllers/allocation_keeper.h"
#include "server/call.h"

namespace berth::cli {

inline constexpr const char* kAllocationsPath = "/berth/v1/allocations";

/// The answer.
struct AllocationStatus {
  std::string form = {};  // "records", "switching-to-bitmaps".
  bool running = false;
  std::string phase = {};
  uint64_t done = 0;
  uint64_t total = 0;
  bool changed = false;  // Whether the last switch that was requested changed anything.
  uint64_t filled = 0;
  uint64_t removed = 0;
  std::string left_out = {};
  std::string error = {};  // Why the last switch failed.
};
codec::Value ToDocument(const AllocationStatus& status);
AllocationStatus FromDocument(const codec::Value& document);
AllocationStatus StatusOf(const controllers::AllocationKeeper::Status& status);
void Fill(AllocationStatus& status, const allocation::FormSwitch::Report& report);

/// Parses "records" or "bitmaps".
std::optional<allocation::AllocationForm> ParseForm(std::string_view text);

void ServeAllocations(controllers::AllocationKeeper& keeper, const server::CallPtr& call);

}  // namespace berth::cli
