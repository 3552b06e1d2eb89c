// Requests about Services and addresses, as the model test draws them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/services_world.h"

namespace berth::model {

enum class Verb : uint8_t {
  kCreate,     // A Service.
  kReplace,    // PUT: makes it if it is not there.
  kPatch,      // Changes one that is there.
  kApply,      // The same, or makes it.
  kStatus,     // PUT of the status.
  kDelete,     //
  kReserve,    // An IPAddress, by a person.
  kTouch,      // Changes the labels of one.
  kUnreserve,  // Deletes one, or that of a port.
  kKeep,       // An IPAddress or NodePort of allocation.berth.io, for somebody or nobody.
  kMakeRange,  // An IPRange or NodePortRange.
  kSetRange,   // Changes one that is there.
  kDropRange,  // Deletes one.
};

/// One thing that a patch changes.
struct Edit {
  enum class Kind : uint8_t {
    kType,
    kTraffic,
    kLbPorts,
    kPolicy,
    kLoseIps,     // clusterIP and clusterIPs are taken out,
    kLoseSecond,  // or the second address and family.
    kSecondIp,    // The second address is given.
    kNode,        // The node port of one port,
    kAddPort,     //
    kRemovePort,  //
    kMoveNode,    // or that of one goes to another.
    kHealth,      //
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
  std::string name = {};  // Of the Service, or the address.
  Service body = {};
  std::vector<Edit> edits = {};
  std::optional<int64_t> version = {};  // That a replacement must find.
  std::string parent = {};              // Of a reservation: a Service, whether there is one or not.
  int64_t hold = 0;                     // For so many seconds it is held; 0: for ever.
  RangeSpec range = {};
  bool dry_run = false;

  bool IsAboutService() const { return verb < Verb::kReserve; }
  bool IsAboutRange() const { return verb >= Verb::kMakeRange; }
};

std::string ToText(const Request& request);

void ApplyEdits(const std::vector<Edit>& edits, Service& service);

/// What is likely in a run.
struct Habits {
  size_t names = 30;
  int growth = 50;  // Of 100: how many of the requests make something.
  int dry_run = 15;
  int finalizers = 10;
  int given = 35;         // How often values are given rather than left to the server.
  int kept = 0;           // Of 100 requests: those that keep a value for a Service, or for nobody,
  int ranges = 0;         // and those that change ranges.
  int64_t cool_down = 0;  // At most so many seconds.
  int64_t hold = 5;       // The same for holds; 0: there are none.
  bool tidy = false;      // What is made is soon gone again, so that bitmaps have room for all.
};

class Requests {
 public:
  Requests(const Habits& habits, base::Random& random) : habits_(habits), random_(random) {}

  Request Next(const World& now);
  /// A run swings between filling up and emptying.
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
  /// One that ranges of the pool have; empty: there is none.
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
