// Records: one object for each address and each port that is taken or reserved, and the ranges they
// come from. This header names, writes and reads them. It does not decide which Service gets which
// value. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "codec/value.h"
#include "commit/write.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "registry/kind_rows.h"
#include "rules/record_notes.h"
#include "state/resource.h"

namespace berth::allocation {

inline constexpr std::string_view kDefaultServiceCidr = "kubernetes";

/// Whether the client or the allocator chose the value.
enum class Chosen : uint8_t { kStatic, kDynamic };

/// The Service that gets a value.
struct Owner {
  std::string_view name_space;
  std::string_view name;
  std::string_view uid;
};
/// A port of a Service. Valid as long as the Service value that it was read from.
struct PortUse {
  std::string_view name = {};
  int64_t port = 0;
  std::string_view protocol = {};

  bool operator==(const PortUse&) const = default;
};
struct RecordFacts {
  PoolValue value;
  Chosen chosen = Chosen::kDynamic;
  std::string range = {};  // As RangeNote returns it. For a port, the name. Empty means the
                           // well-known range.
  bool health_check = false;
  std::vector<PortUse> ports = {};  // For a port: the Service's ports that it serves.
};

/// The rows of records, ranges, Services and what belongs to them.
struct RecordRows {
  const registry::Row* ip_addresses = nullptr;
  const registry::Row* node_ports = nullptr;
  const registry::Row* service_cidrs = nullptr;
  const registry::Row* node_port_ranges = nullptr;
  const registry::Row* ip_ranges = nullptr;
  const registry::Row* fences = nullptr;
  const registry::Row* replicas = nullptr;
  const registry::Row* bitmaps = nullptr;
  const registry::Row* services = nullptr;
};
RecordRows RecordRowsOf(const registry::Kinds& kinds);

/// Returns the name of a record: "10.96.0.10", "30080".
std::string RecordName(const PoolValue& value);
std::string RecordKey(const RecordRows& rows, const PoolValue& value);

/// Returns the range of an address as the record notes it (rules::RecordNotes::range). That is the
/// range's name. For the default ServiceCIDR it is the name of the well-known IPRange, even if that
/// does not exist.
std::string RangeNote(const RangeState& range);
bool IsDefaultRange(const RangeState& range);

/// Returns some of a Service's ports, given their positions in `spec.ports`. UsesOf returns them as
/// `status.ports` of a NodePort.
std::vector<PortUse> PortUses(const codec::Value& service, std::span<const size_t> ports);
codec::Array UsesOf(std::span<const PortUse> ports);

/// Parts of the record of a taken value: the labels and notes of an address, and the members of a
/// port.
codec::Object AddressLabels(const PoolValue& value);
rules::RecordNotes NotesOf(const Owner& owner, const RecordFacts& facts);
codec::Object PortRangeReference(const RecordRows& rows, std::string_view range);
codec::Object AllocatedPortStatus(const Owner& owner, const RecordFacts& facts,
                                  std::string_view since);

/// Returns the put of a new record, which must not exist yet.
commit::ExtraPut NewRecord(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
                           std::string uid, base::WallTime now);

/// Makes the same bytes as NewRecord, faster. Records that have the same members have one form.
/// Once a second, NewRecord makes a sample of a form, and the other records are made from that
/// sample.
///
/// Threads: any.
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

/// Return the ranges that a store begins with.
codec::Value ServiceCidrOf(std::span<const ip::Cidr> cidrs);
codec::Value NodePortRangeOf(const ip::PortRange& ports);

/// Returns what a record says, or nullopt if the object is not a record. A record that the
/// allocator created is read without decoding it.
std::optional<RecordInfo> ReadRecord(const RecordRows& rows, const state::Object& object);

/// Returns which bitmap the object is, or nullopt if it is not a bitmap.
std::optional<BitmapId> BitmapOf(const RecordRows& rows, const state::Object& object);

/// Returns whether the object is a record that cools down. It does not block creating a new record.
bool IsCooling(const RecordRows& rows, const state::Object& object);

/// Returns the functions by which the ledger reads objects of the snapshot. With a gate off, the
/// whole range is one band.
RecordReader MakeRecordReader(const RecordRows& rows, const registry::Gates& gates);

}  // namespace berth::allocation
