// /berth/v1/audit: what the auditor of addresses and ports has found (controllers/auditor.h).
//
//   GET     returns the report of the last pass
//   POST    asks for a pass; 202, with the same document. The pass whose number is `asked` shows
//           what is stored now: wait until `passes` is at least that number.
//
// Answers are JSON.
#pragma once

#include <cstdint>
#include <optional>

#include "codec/value.h"
#include "controllers/auditor.h"
#include "server/call.h"

namespace berth::cli {

inline constexpr const char* kAuditPath = "/berth/v1/audit";

codec::Value ToDocument(const controllers::Auditor::Status& status,
                        const std::optional<uint64_t>& asked);

void ServeAudit(controllers::Auditor& auditor, const server::CallPtr& call);

}  // namespace berth::cli
