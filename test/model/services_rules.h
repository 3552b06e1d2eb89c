// The reference model: the expected outcome of a request in a given world. It follows the
// documentation of Kubernetes (and the documented differences of Berth), not the code under test.
// It is slow and in one piece, without plans, locks or indexes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/services_request.h"
#include "model/services_world.h"
#include "registry/kind_rows.h"

namespace berth::model {

/// Possible outcomes of a request, as bits.
using Classes = unsigned;
inline constexpr Classes kOk = 1;
inline constexpr Classes kExists = 2;       // 409 AlreadyExists
inline constexpr Classes kMissing = 4;      // 404
inline constexpr Classes kConflict = 8;     // 409
inline constexpr Classes kInvalid = 16;     // 422 before anything is allocated
inline constexpr Classes kTaken = 32;       // 422 already allocated
inline constexpr Classes kOutside = 64;     // 422 not in the range
inline constexpr Classes kFull = 128;       // 500
inline constexpr Classes kHealth = 256;     // 500 for a given health check port
inline constexpr Classes kStore = 512;      // 503 because the store has failed
inline constexpr Classes kUnknown = 1024;   // 504
inline constexpr Classes kReserved = 2048;  // 422 because it is reserved for another Service
inline constexpr Classes kNotGiven = 4096;  // 422 because its range is disabled or excludes it
inline constexpr Classes kBlocked = 8192;   // 422 or 409, values would be outside of all ranges
inline constexpr Classes kRefused = 16384;  // 409 because of the form, or a primary range
inline constexpr Classes kOther = 32768;    // Never a valid answer.

std::string ClassesText(Classes classes);

struct Verdict {
  Classes classes = 0;
  /// With kOk, the Service afterwards. kAny and numbers below 0 stand for values that the server
  /// chooses. Nullopt if the Service is deleted, or if the request is not about a Service.
  std::optional<Service> next = {};
  /// The case is not modelled: the further behaviour of Services that should have addresses but
  /// have none.
  bool unsure = false;
  /// With kOk, for a request about a range: all ranges afterwards.
  std::optional<Cluster::Specs> ranges = {};
};

/// Inputs of a decision besides the store.
struct Settings {
  registry::Gates gates = {};
  std::vector<std::string> families = {};  // Families that have ranges, the default one first.
  bool knows_kept = true;                  // The values kept for the Service have not changed.
  int64_t now = 0;                         // In seconds.

  bool HasBand(PoolOf pool) const {
    return pool == PoolOf::kPorts ? gates.static_ports : gates.static_ips;
  }
};

Verdict Judge(const World& world, const Request& request, const Settings& settings);

/// Judge requests about ranges, and about kept values (services_range_rules.cc).
Verdict JudgeRange(const World& world, const Request& request);
Verdict JudgeRecord(const World& world, const Request& request, const Settings& settings);

/// Returns "" if `actual` is as expected in that world, or a description of the difference.
std::string CheckExpected(const Service& expected, const Service& actual, const std::string& name,
                          const World& before, const Settings& settings);

}  // namespace berth::model
