// Requests about Services, addresses and ranges, as the model test generates them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/services_world.h"

namespace berth::model {

enum class Verb : uint8_t {
  kCreate,     // Creates a Service.
  kReplace,    // PUT of a Service, which creates it if it does not exist.
  kPatch,      // Changes an existing Service.
  kApply,      // Changes a Service, or creates it.
  kStatus,     // PUT of the status.
  kDelete,     // Deletes a Service.
  kReserve,    // Creates an IPAddress, as a user does.
  kTouch,      // Changes the labels of an IPAddress.
  kUnreserve,  // Deletes the record of an address or of a port.
  kKeep,       // Creates an IPAddress or NodePort of allocation.berth.io.
  kMakeRange,  // Creates an IPRange or NodePortRange.
  kSetRange,   // Changes an existing range.
  kDropRange,  // Deletes a range.
};

/// One change that a patch makes.
struct Edit {
  enum class Kind : uint8_t {
    kType,
    kTraffic,
    kLbPorts,
    kPolicy,
    kLoseIps,     // Removes clusterIP and clusterIPs.
    kLoseSecond,  // Removes the second address and family.
    kSecondIp,    // Sets the second address.
    kNode,        // Sets the node port of one port.
    kAddPort,     // Adds a port.
    kRemovePort,  // Removes a port.
    kMoveNode,    // Moves the node port of one port to another.
    kHealth,      // Sets the health check node port.
    kFinalizers,
  };
  Kind kind = Kind::kType;
  size_t place = 0;
  Service with = {};  // The new values.
};

struct Request {
  int id = 0;
  size_t replica = 0;
  Verb verb = Verb::kCreate;
  std::string name = {};  // Of the Service, the address or the port.
  Service body = {};
  std::vector<Edit> edits = {};
  std::optional<int64_t> version = {};  // The version that a replacement requires.
  std::string parent = {};              // The Service that a reservation names; it need not exist.
  int64_t hold = 0;                     // Seconds of a hold; 0 means without an end.
  RangeSpec range = {};
  bool dry_run = false;

  bool IsAboutService() const { return verb < Verb::kReserve; }
  bool IsAboutRange() const { return verb >= Verb::kMakeRange; }
};

std::string ToText(const Request& request);

void ApplyEdits(const std::vector<Edit>& edits, Service& service);

/// Probabilities and limits of a run.
struct Habits {
  size_t names = 30;
  int growth = 50;  // Percent of the requests that create something.
  int dry_run = 15;
  int finalizers = 10;
  int given = 35;         // Percent of values that the client gives.
  int kept = 0;           // Percent of the requests that reserve a value.
  int ranges = 0;         // Percent of the requests that change ranges.
  int64_t cool_down = 0;  // Longest cool-down in seconds.
  int64_t hold = 5;       // Longest hold in seconds; 0 means no holds.
  bool tidy = false;      // Objects are soon deleted, so that bitmaps have enough room.
};

class Requests {
 public:
  Requests(const Habits& habits, base::Random& random) : habits_(habits), random_(random) {}

  Request Next(const World& now);
  /// Sets the share of creates. A run swings between filling up and emptying.
  void SetGrowth(int growth) { habits_.growth = growth; }

 private:
  uint64_t Draw(uint64_t bound) { return base::Uniform(random_, bound); }
  bool Percent(int percent) { return Draw(100) < static_cast<uint64_t>(percent); }
  template <typename List>
  const auto& One(const List& list) {
    return list[Draw(list.size())];
  }

  Verb SomeVerb();
  std::string SomeName(const World& now, bool there);
  std::string SomeAddress(const std::string& family, const World& now);
  int64_t SomeNumber(const World& now);
  std::string SomeFamily(const World& now);
  /// Returns a value that ranges of the pool have, or "" if there is no such value.
  std::string SomeValue(PoolOf pool, const World& now);
  int64_t NumberOrNone(const World& now) { return Percent(habits_.given) ? SomeNumber(now) : 0; }
  void DrawFamilies(Service& service, const World& now);
  void DrawPorts(Service& service, const World& now);
  void DrawFinalizers(Service& service);
  Service SomeService(const World& now);
  Service Replacement(const Service& current, const World& now);
  Edit SomeEdit(const World& now);
  Request RecordRequest(Request request, const World& now);
  // services_range_request.cc
  Request KeepRequest(Request request, const World& now);
  Request RangeRequest(Request request, const World& now);
  RangeSpec SomeRange(const std::string& name, PoolOf pool);

  Habits habits_;
  base::Random& random_;
  int next_id_ = 1;
};

}  // namespace berth::model
