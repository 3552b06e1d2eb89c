// The records of taken values: one object for each address and each port that somebody has, and the
// ranges they come from. How these are named, written and read back; nothing of who gets what.
// Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
#include "rules/record_notes.h"
#include "state/resource.h"

namespace berth::registry {

inline constexpr std::string_view kDefaultServiceCidr = "kubernetes";

/// How a value came to its owner.
enum class Chosen : uint8_t { kStatic, kDynamic };

/// Who gets a value, and what for.
struct Owner {
  std::string_view name_space;
  std::string_view name;
  std::string_view uid;
};
/// A port of a Service. Valid as long as the Service.
struct PortUse {
  std::string_view name = {};
  int64_t port = 0;
  std::string_view protocol = {};

  bool operator==(const PortUse&) const = default;
};
struct RecordFacts {
  commit::PoolValue value;
  Chosen chosen = Chosen::kDynamic;
  std::string range = {};  // As RangeNote says it; of a port its name. Empty: the well-known one.
  bool health_check = false;
  std::vector<PortUse> ports = {};  // Of a port: what of the Service it is for.
};

/// The rows that records and ranges are kept in.
struct RecordRows {
  const Row* ip_addresses = nullptr;
  const Row* node_ports = nullptr;
  const Row* service_cidrs = nullptr;
  const Row* node_port_ranges = nullptr;
  const Row* ip_ranges = nullptr;
  const Row* fences = nullptr;
  const Row* replicas = nullptr;
  const Row* bitmaps = nullptr;
};
RecordRows RecordRowsOf(const Kinds& kinds);

/// "10.96.0.10", "30080".
std::string RecordName(const commit::PoolValue& value);
std::string RecordKey(const RecordRows& rows, const commit::PoolValue& value);

/// The range of an address as its notes have it (rules::RecordNotes::range): by its name, and by
/// that of the well-known IPRange also where the default ServiceCIDR has none.
std::string RangeNote(const commit::Allocations::RangeState& range);
bool IsDefaultRange(const commit::Allocations::RangeState& range);

/// Some of a Service's ports, by their places in `spec.ports`; and as `status.ports` of a NodePort.
std::vector<PortUse> PortUses(const codec::Value& service, std::span<const size_t> ports);
codec::Array UsesOf(std::span<const PortUse> ports);

/// Parts of a record that somebody has: what is noted of an address; what a port says.
rules::RecordNotes NotesOf(const RecordFacts& facts);
codec::Object PortRangeReference(const RecordRows& rows, std::string_view range);
codec::Object AllocatedPortStatus(const Owner& owner, const RecordFacts& facts);

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

/// What a record says; nothing: it is none. Of what the allocator has made it costs a look.
std::optional<commit::RecordInfo> ReadRecord(const RecordRows& rows, const state::Object& object);

/// Which bitmap it is; nothing: it is none.
std::optional<alloc::BitmapId> BitmapOf(const RecordRows& rows, const state::Object& object);

/// Whether it is a record that cools down: as good as none to who makes one.
bool IsCooling(const RecordRows& rows, const state::Object& object);

/// What the allocator reads in the picture. With a gate off the whole range is one band.
commit::RecordReader MakeRecordReader(const RecordRows& rows, const Gates& gates);

}  // namespace berth::registry
