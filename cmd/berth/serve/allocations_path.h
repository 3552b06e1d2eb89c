// /berth/v1/allocations: in which form the store keeps allocations, for `berth
// migrate-allocations`.
//
//   GET                                     how it is, and how far a switch is
//   POST ?to=records|bitmaps[&force=true]   begins one; 202, or 409 while another one is under way
//
// Answers are JSON, see AllocationStatus.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "codec/value.h"
#include "commit/allocation_form.h"
#include "controllers/allocation_keeper.h"
#include "server/call.h"

namespace berth::cli {

inline constexpr const char* kAllocationsPath = "/berth/v1/allocations";

/// What the path answers.
struct AllocationStatus {
  std::string form = {};  // "records", "switching-to-bitmaps".
  bool running = false;
  std::string phase = {};
  uint64_t done = 0;
  uint64_t total = 0;
  bool changed = false;  // By the last switch that was asked for.
  uint64_t filled = 0;
  uint64_t removed = 0;
  std::string left_out = {};
  std::string error = {};  // Why it failed.
};
codec::Value ToDocument(const AllocationStatus& status);
AllocationStatus FromDocument(const codec::Value& document);
AllocationStatus StatusOf(const controllers::AllocationKeeper::Status& status);
void Fill(AllocationStatus& status, const controllers::FormSwitch::Report& report);

/// "records", "bitmaps".
std::optional<commit::AllocationForm> ParseForm(std::string_view text);

void ServeAllocations(controllers::AllocationKeeper& keeper, const server::CallPtr& call);

}  // namespace berth::cli
