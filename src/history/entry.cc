#include "history/entry.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/packed_uuid.h"

namespace berth::history {
namespace {

using alloc::PoolId;

constexpr uint8_t kKindMask = 7;
constexpr unsigned kPlaceShift = 3;
constexpr unsigned kOriginShift = 5;
constexpr uint8_t kApproximate = 0x80;
/// The latest time that is accepted, in the year 2262, so that sums do not overflow.
constexpr Millis kMaxMillis = INT64_MAX / 1'000'000;

/// The pool and the purpose of a value in two bits.
uint8_t PlaceOf(const Held& held) {
  if (held.value.pool == PoolId::kIpv4) return 0;
  if (held.value.pool == PoolId::kIpv6) return 1;
  return held.purpose == Purpose::kHealthCheck ? 3 : 2;
}

void SetPlace(uint8_t place, Held& held) {
  constexpr std::array kPools = {PoolId::kIpv4, PoolId::kIpv6, PoolId::kPorts, PoolId::kPorts};
  constexpr std::array kPurposes = {Purpose::kAddress, Purpose::kAddress, Purpose::kNodePort,
                                    Purpose::kHealthCheck};
  held.value.pool = kPools[place];
  held.purpose = kPurposes[place];
}

base::U128 LargestOf(PoolId pool) {
  if (pool == PoolId::kIpv4) return UINT32_MAX;
  return pool == PoolId::kPorts ? base::U128(UINT16_MAX) : base::kU128Max;
}

bool HasValue(EntryKind kind) {
  return kind == EntryKind::kTaken || kind == EntryKind::kReleased || kind == EntryKind::kHeld;
}

/// Returns whether an entry says up to when changes are known. That may be before the last entry.
bool IsMark(EntryKind kind) { return kind == EntryKind::kSeen || kind == EntryKind::kListed; }

bool HasRevision(EntryKind kind) {
  return kind == EntryKind::kTaken || kind == EntryKind::kReleased || IsMark(kind);
}

}  // namespace

Millis MillisOf(base::WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

base::WallTime TimeOf(Millis millis) { return base::WallTime(std::chrono::milliseconds(millis)); }

bool ProvesSeen(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kSeen:
    case EntryKind::kListed:
      return true;
    case EntryKind::kTaken:
    case EntryKind::kReleased:
      return entry.earliest == entry.time;
    default:
      return false;
  }
}

uint32_t OwnerTable::Add(const Owner& owner) {
  begins_.push_back(text_.size());
  ByteWriter bytes(text_);
  bytes.Text(owner.name_space);
  bytes.Text(owner.name);
  bytes.Text(owner.uid);
  return static_cast<uint32_t>(begins_.size() - 1);
}

Owner OwnerTable::Get(uint32_t number) const {
  ByteReader bytes(std::string_view(text_).substr(begins_[number]));
  Owner owner;
  owner.name_space = bytes.Text(kMaxNameBytes);
  owner.name = bytes.Text(kMaxNameBytes);
  owner.uid = bytes.Text(kMaxNameBytes);
  return owner;
}

EntryWriter::EntryWriter(CodingState state) : state_(std::move(state)) {
  for (uint32_t i = 0; i < state_.spaces.size(); ++i) space_numbers_[state_.spaces[i]] = i;
  for (uint32_t i = 0; i < state_.ranges.size(); ++i) range_numbers_[state_.ranges[i]] = i;
}

void EntryWriter::WriteName(const std::string& name, std::vector<std::string>& names,
                            std::unordered_map<std::string, uint32_t>& numbers, ByteWriter& bytes) {
  const auto [at, is_new] = numbers.try_emplace(name, static_cast<uint32_t>(names.size()));
  bytes.Unsigned(at->second);
  if (!is_new) return;
  names.push_back(name);
  bytes.Text(name);
}

void EntryWriter::WriteOwner(const Owner& owner, ByteWriter& bytes) {
  WriteName(owner.name_space, state_.spaces, space_numbers_, bytes);
  bytes.Text(owner.name);
  // 0 announces a packed uid, and every other number is the length of a text plus 1.
  if (const auto packed = base::PackUuid(owner.uid)) {
    bytes.Unsigned(0);
    bytes.Raw({packed->data(), packed->size()});
  } else {
    bytes.Unsigned(owner.uid.size() + 1);
    bytes.Raw(owner.uid);
  }
}

void EntryWriter::WriteFields(const Entry& entry, ByteWriter& bytes) {
  const bool exact = entry.earliest == entry.time;
  auto tag = static_cast<uint8_t>(entry.kind);
  if (HasValue(entry.kind)) {
    tag |= static_cast<uint8_t>(PlaceOf(entry.held) << kPlaceShift);
    tag |= static_cast<uint8_t>(static_cast<uint8_t>(entry.held.origin) << kOriginShift);
    if (!exact) tag |= kApproximate;
  }
  bytes.Byte(tag);
  if (entry.kind == EntryKind::kChecked) return;
  if (entry.kind == EntryKind::kHeld) {
    bytes.Signed(state_.start - entry.time);
  } else if (IsMark(entry.kind)) {
    bytes.Signed(entry.time - state_.time);
    state_.time = std::max(state_.time, entry.time);
  } else {
    bytes.Unsigned(static_cast<uint64_t>(entry.time - state_.time));
    state_.time = entry.time;
  }
  if (HasValue(entry.kind) && !exact) {
    bytes.Unsigned(entry.earliest ? static_cast<uint64_t>(entry.time - *entry.earliest) + 1 : 0);
  }
  if (HasRevision(entry.kind)) {
    bytes.Signed(entry.revision - state_.revision);
    state_.revision = entry.revision;
  }
  if (HasValue(entry.kind)) {
    base::U128& last = state_.values[entry.held.value.pool];
    bytes.Unsigned(entry.held.value.value ^ std::exchange(last, entry.held.value.value));
    bytes.Unsigned(entry.owner);
  } else if (entry.kind == EntryKind::kCounts) {
    WriteName(entry.counts.range, state_.ranges, range_numbers_, bytes);
    bytes.Unsigned(entry.counts.taken);
    bytes.Unsigned(entry.counts.withheld);
    bytes.Unsigned(entry.counts.usable);
  }
}

void EntryWriter::Write(const Entry& entry, std::string& out) {
  ByteWriter bytes(out);
  WriteFields(entry, bytes);
}

uint32_t EntryWriter::Write(Entry entry, const Owner& owner, std::string& out) {
  entry.owner = state_.owners++;
  ByteWriter bytes(out);
  WriteFields(entry, bytes);
  WriteOwner(owner, bytes);
  return entry.owner;
}

std::optional<std::string> EntryReader::ReadName(ByteReader& bytes,
                                                 std::vector<std::string>& names) {
  const uint64_t number = bytes.Unsigned64();
  if (number < names.size()) return names[number];
  if (number > names.size()) return std::nullopt;
  names.emplace_back(bytes.Text(kMaxNameBytes));
  if (bytes.failed()) return std::nullopt;
  return names.back();
}

bool EntryReader::ReadOwner(ByteReader& bytes, Entry& entry) {
  const uint64_t number = bytes.Unsigned64();
  if (bytes.failed() || number > state_.owners) return false;
  entry.owner = static_cast<uint32_t>(number);
  if (number < state_.owners) return true;
  const auto space = ReadName(bytes, state_.spaces);
  if (!space) return false;
  Owner owner{.name_space = *space, .name = std::string(bytes.Text(kMaxNameBytes))};
  const uint64_t uid = bytes.Unsigned64();
  if (uid > kMaxNameBytes + 1) return false;
  if (uid == 0) {
    base::PackedUuid packed{};
    const std::string_view raw = bytes.Raw(packed.size());
    if (bytes.failed()) return false;
    std::ranges::copy(raw, packed.begin());
    base::AppendUuid(owner.uid, packed);
  } else {
    owner.uid = bytes.Raw(uid - 1);
  }
  if (bytes.failed()) return false;
  owners_.Add(owner);
  ++state_.owners;
  return true;
}

bool EntryReader::ReadValue(ByteReader& bytes, Entry& entry) {
  base::U128& last = state_.values[entry.held.value.pool];
  last ^= bytes.Unsigned();
  entry.held.value.value = last;
  if (bytes.failed() || last > LargestOf(entry.held.value.pool)) return false;
  return ReadOwner(bytes, entry);
}

bool EntryReader::ReadCounts(ByteReader& bytes, Entry& entry) {
  auto range = ReadName(bytes, state_.ranges);
  if (!range) return false;
  entry.counts = {.range = *std::move(range)};
  entry.counts.taken = bytes.Unsigned();
  entry.counts.withheld = bytes.Unsigned();
  entry.counts.usable = bytes.Unsigned();
  return !bytes.failed();
}

bool EntryReader::Read(ByteReader& bytes, Entry& entry) {
  const uint8_t tag = bytes.Byte();
  if (bytes.failed() || (tag & kKindMask) > static_cast<uint8_t>(EntryKind::kChecked)) return false;
  entry.kind = static_cast<EntryKind>(tag & kKindMask);
  entry.time = state_.time;
  entry.revision = state_.revision;
  if (entry.kind == EntryKind::kChecked) return true;
  const uint8_t origin = (tag >> kOriginShift) & 3;
  if (origin > static_cast<uint8_t>(inspect::Origin::kDrawn)) return false;
  entry.held.origin = static_cast<inspect::Origin>(origin);
  SetPlace((tag >> kPlaceShift) & 3, entry.held);
  if (entry.kind == EntryKind::kHeld) {
    const int64_t before = bytes.Signed();
    if (before > kMaxMillis || before < -kMaxMillis) return false;
    entry.time = state_.start - before;
  } else if (IsMark(entry.kind)) {
    const int64_t after = bytes.Signed();
    if (after > kMaxMillis - state_.time || after < -state_.time) return false;
    entry.time += after;
    state_.time = std::max(state_.time, entry.time);
  } else {
    const uint64_t after = bytes.Unsigned64();
    if (after > static_cast<uint64_t>(kMaxMillis - state_.time)) return false;
    entry.time = state_.time += static_cast<int64_t>(after);
  }
  entry.earliest = entry.time;
  if (HasValue(entry.kind) && (tag & kApproximate) != 0) {
    const uint64_t before = bytes.Unsigned64();
    if (before > static_cast<uint64_t>(kMaxMillis)) return false;
    entry.earliest.reset();
    if (before > 0) entry.earliest = entry.time - static_cast<int64_t>(before - 1);
  }
  if (HasRevision(entry.kind)) {
    // Unsigned, because the sum of two arbitrary numbers may overflow.
    state_.revision = static_cast<int64_t>(static_cast<uint64_t>(state_.revision) +
                                           static_cast<uint64_t>(bytes.Signed()));
    entry.revision = state_.revision;
  }
  if (HasValue(entry.kind)) return ReadValue(bytes, entry);
  if (entry.kind == EntryKind::kCounts) return ReadCounts(bytes, entry);
  return !bytes.failed();
}

}  // namespace berth::history
