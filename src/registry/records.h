// The records of taken values: one object for each address and each port that somebody has, and the
// ranges they come from. How these are named, written and read back; nothing of who gets what.
// Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "codec/value.h"
#include "commit/allocations.h"
#include "commit/write.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "registry/kinds.h"
#include "state/resource.h"

namespace berth::registry {

inline constexpr std::string_view kDefaultServiceCidr = "kubernetes";
inline constexpr std::string_view kDefaultNodePortRange = "allocator.nodeport.k8s.io";

/// How a value came to its owner.
enum class Chosen : uint8_t { kStatic, kDynamic };

/// Who gets a value, and what for.
struct Owner {
  std::string_view name_space;
  std::string_view name;
  std::string_view uid;
};
struct RecordFacts {
  commit::PoolValue value;
  Chosen chosen = Chosen::kDynamic;
  bool health_check = false;
};

/// The rows that records and ranges are kept in.
struct RecordRows {
  const Row* ip_addresses = nullptr;
  const Row* node_ports = nullptr;
  const Row* service_cidrs = nullptr;
  const Row* node_port_ranges = nullptr;
};
RecordRows RecordRowsOf(const Kinds& kinds);

/// "10.96.0.10", "30080".
std::string RecordName(const commit::PoolValue& value);
std::string RecordKey(const RecordRows& rows, const commit::PoolValue& value);

/// A new record, which must not be there yet.
commit::ExtraPut NewRecord(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
                           std::string uid, base::WallTime now);

/// The same bytes, faster: of each form one is made as above every second, and the others after it.
///
/// Any thread.
class RecordMaker {
 public:
  explicit RecordMaker(const RecordRows& rows);
  ~RecordMaker();

  commit::ExtraPut Make(const Owner& owner, const RecordFacts& facts, std::string_view uid,
                        base::WallTime now) EXCLUDES(mutex_);

 private:
  struct Form;
  using FormPtr = std::shared_ptr<const Form>;

  FormPtr FormOf(const RecordFacts& facts, base::WallTime now) EXCLUDES(mutex_);

  const RecordRows rows_;

  base::Mutex mutex_;
  std::vector<FormPtr> forms_ GUARDED_BY(mutex_);
};

/// The ranges that a store begins with.
codec::Value ServiceCidrOf(std::span<const ip::Cidr> cidrs);
codec::Value NodePortRangeOf(const ip::PortRange& ports);

/// The fence of a pool's ranges: written by whoever changes what they allow, compared by whoever
/// takes a value from them.
std::string_view RangeFence(commit::PoolId pool);

/// What the allocator reads in the picture. With a gate off the whole range is one band.
commit::RecordReader MakeRecordReader(const RecordRows& rows, const Gates& gates);

}  // namespace berth::registry
