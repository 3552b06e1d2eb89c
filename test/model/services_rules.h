// The reference model: what must become of a request in a given world. Written from what Kubernetes
// documents (and from where Berth says that it differs), not from the code that it checks; slow and
// in one piece, without plans, locks or indexes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/services_request.h"
#include "model/services_world.h"
#include "registry/kinds.h"

namespace berth::model {

/// How a request can end, as bits.
using Classes = unsigned;
inline constexpr Classes kOk = 1;
inline constexpr Classes kExists = 2;       // 409 AlreadyExists
inline constexpr Classes kMissing = 4;      // 404
inline constexpr Classes kConflict = 8;     // 409
inline constexpr Classes kInvalid = 16;     // 422 before anything is taken
inline constexpr Classes kTaken = 32;       // 422 already allocated
inline constexpr Classes kOutside = 64;     // 422 not in the range
inline constexpr Classes kFull = 128;       // 500
inline constexpr Classes kHealth = 256;     // 500, about a health check port that was given
inline constexpr Classes kStore = 512;      // 503, the store has failed
inline constexpr Classes kUnknown = 1024;   // 504
inline constexpr Classes kReserved = 2048;  // 422, somebody else's
inline constexpr Classes kNotGiven = 4096;  // 422, of a range that is disabled, or excluded from it
inline constexpr Classes kBlocked = 8192;   // 422 or 403, values would be outside of all ranges
inline constexpr Classes kForbidden = 16384;  // 403
inline constexpr Classes kOther = 32768;      // What no request may be told.

std::string ClassesText(Classes classes);

struct Verdict {
  Classes classes = 0;
  /// kOk: the Service afterwards, with kAny and numbers below 0 for what is chosen by the server;
  /// nothing: it is gone, or it is about no Service.
  std::optional<Service> next = {};
  /// What is not modelled: how Services without addresses that should have some go on.
  bool unsure = false;
  /// kOk, about a range: all ranges afterwards.
  std::optional<Cluster::Specs> ranges = {};
};

/// What a server goes by beside the store.
struct Settings {
  registry::Gates gates = {};
  std::vector<std::string> families = {};  // Of which there are ranges, the default one first.
  bool knows_kept = true;  // What is kept for the Service was the same all the while.
  int64_t now = 0;         // In seconds.

  bool HasBand(PoolOf pool) const {
    return pool == PoolOf::kPorts ? gates.static_ports : gates.static_ips;
  }
};

Verdict Judge(const World& world, const Request& request, const Settings& settings);

/// Of requests about ranges, and about values that are kept (services_range_rules.cc).
Verdict JudgeRange(const World& world, const Request& request);
Verdict JudgeRecord(const World& world, const Request& request, const Settings& settings);

/// Whether `actual` is what was expected in that world; empty, or what differs.
std::string CheckExpected(const Service& expected, const Service& actual, const std::string& name,
                          const World& before, const Settings& settings);

}  // namespace berth::model
