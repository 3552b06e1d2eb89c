// Says of ServiceCIDRs whether they can serve, soon after they are made, and ends those that are
// deleted: the finalizer goes as soon as nothing depends on them, and until then the Ready
// condition says that something does.
//
// Threads: the controllers' one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "commit/allocations.h"
#include "controllers/context.h"
#include "registry/records.h"

namespace berth::controllers {

class CidrFinisher {
 public:
  /// All must outlive it.
  CidrFinisher(const Context& context, commit::Allocations& allocations);

  /// Whether there was anything to do.
  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  /// A try to let one go that was refused.
  struct Refused {
    uint64_t changes = 0;  // Of the allocator up to then.
    base::SteadyTime since = {};
  };
  /// Since when it is seen to say something wrong of itself.
  struct Wrong {
    int64_t revision = 0;
    base::SteadyTime since = {};
  };

  bool IsNeeded(std::string_view name) const;
  bool MayTry(std::string_view name) const;
  /// Whether there is anything left to do about it.
  bool Attend(const state::Object& stored);
  void SayWhetherReady(const codec::Value& cidr, const state::Object& stored);
  bool IsTimeToSay(const codec::Value& cidr, const state::Object& stored);
  void Finish(const codec::Value& cidr);
  void SayWhy(const codec::Value& cidr);

  Context context_;
  commit::Allocations& allocations_;
  const registry::RecordRows rows_;
  base::SteadyTime due_;
  // By name: revisions that need nothing more, and what else is known of those that are there.
  std::map<std::string, int64_t, std::less<>> done_;
  std::map<std::string, Refused, std::less<>> refused_;
  std::map<std::string, Wrong, std::less<>> wrong_;
};

}  // namespace berth::controllers
