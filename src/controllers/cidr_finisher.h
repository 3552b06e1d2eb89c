// Sets the Ready condition of ServiceCIDRs soon after they are created, and finishes those that are
// being deleted. It removes the finalizer as soon as nothing depends on the ServiceCIDR. Until then
// the Ready condition says that something does. The default ServiceCIDR stays until other ranges
// take over (range_takeover.h). If a client removes its finalizer, it is created again at once.
//
// Threads: that of the controllers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "allocation/ledger/ledger.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "controllers/controller_context.h"

namespace berth::controllers {

class CidrFinisher {
 public:
  /// All must outlive it.
  CidrFinisher(const Context& context, allocation::Ledger& ledger);

  /// Returns whether there was anything to do.
  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  /// A refused attempt to remove the finalizer.
  struct Refused {
    uint64_t changes = 0;  // The ledger's count of changes at that time.
    base::SteadyTime since = {};
  };
  /// Since when a ServiceCIDR has had a wrong condition.
  struct Wrong {
    int64_t revision = 0;
    base::SteadyTime since = {};
  };

  bool IsNeeded(std::string_view name) const;
  bool MayTry(std::string_view name) const;
  /// Returns whether there is anything left to do about the ServiceCIDR.
  bool Attend(const state::Object& stored);
  void SayWhetherReady(const codec::Value& cidr, const state::Object& stored);
  bool IsTimeToSay(const codec::Value& cidr, const state::Object& stored);
  void Finish(const codec::Value& cidr);
  void SayWhy(const codec::Value& cidr);
  /// Creates the default ServiceCIDR if it does not exist. Returns whether it did anything.
  bool RestoreDefault(const state::Snapshot& snapshot);

  Context context_;
  allocation::Ledger& ledger_;
  const allocation::RecordRows rows_;
  base::SteadyTime due_;
  // By name: revisions that need nothing more, and what else is known of existing ServiceCIDRs.
  std::map<std::string, int64_t, std::less<>> done_;
  std::map<std::string, Refused, std::less<>> refused_;
  std::map<std::string, Wrong, std::less<>> wrong_;
};

}  // namespace berth::controllers
