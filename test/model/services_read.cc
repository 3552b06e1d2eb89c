// Reads a world from what is stored, and checks it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "allocation/allocation_forms.h"
#include "codec/range_allocation.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "model/services_world.h"

namespace berth::model {
namespace {

using codec::Value;
using Values = std::set<std::string>;

constexpr std::string_view kNotes = "internal.allocation.berth.io/";
constexpr std::string_view kFences = "/registry/berth.io/fence/";

std::optional<int64_t> SecondsOf(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto time = codec::ParseTime(text);
  if (!time) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
}

Record::State StateNamed(std::string_view text) {
  if (text == "Allocated") return Record::State::kAllocated;
  if (text == "Pending") return Record::State::kPending;
  return text == "Free" ? Record::State::kCooling : Record::State::kReserved;
}

/// Removes the namespace, because all Services of the model are in the same one.
std::string WithoutNamespace(std::string_view text) {
  return std::string(text.substr(text.find('/') + 1));
}

Record AddressRecord(const Value& object) {
  const auto note = [&object](std::string_view name) {
    return codec::StringAt(object, "metadata", "annotations", std::string(kNotes).append(name));
  };
  Record record{
      .name_space = std::string(codec::StringAt(object, "spec", "parentRef", "namespace")),
      .name = std::string(codec::StringAt(object, "spec", "parentRef", "name")),
      .chosen = std::string(note("chosen")),
      .reserved_for = WithoutNamespace(note("reserved-for")),
      .until = SecondsOf(note("until"))};
  const std::string_view state = note("state");
  record.by_hand = state.empty() && record.chosen.empty();
  record.state = StateNamed(state.empty() && !record.chosen.empty() ? "Allocated" : state);
  return record;
}

std::string UseText(std::string_view name, int64_t port, std::string_view protocol) {
  return fmt::format("{}:{}/{}", name, port, protocol);
}

Record PortRecord(const Value& object) {
  Record record{
      .state = StateNamed(codec::StringAt(object, "status", "state")),
      .name_space = std::string(codec::StringAt(object, "status", "service", "namespace")),
      .name = std::string(codec::StringAt(object, "status", "service", "name")),
      .uid = std::string(codec::StringAt(object, "status", "service", "uid")),
      .chosen = std::string(codec::StringAt(object, "status", "chosen")),
      .purpose = std::string(codec::StringAt(object, "status", "purpose")),
      .reserved_for = std::string(codec::StringAt(object, "spec", "reservedFor", "name")),
      .until = SecondsOf(codec::StringAt(object, "status", "until"))};
  if (!record.chosen.empty()) {
    record.chosen[0] = static_cast<char>(record.chosen[0] - 'A' + 'a');
  }
  for (const Value& use : codec::ArrayAt(object, "status", "ports")) {
    record.uses.insert(UseText(codec::StringAt(use, "name"), codec::IntAt(use, "port"),
                               codec::StringAt(use, "protocol")));
  }
  return record;
}

/// Reads a bitmap. Bit 0 of the integer is the first usable address, or the first port.
Values BitsOf(const std::string& stored) {
  const auto bitmap = codec::ReadRangeAllocation(stored);
  if (!bitmap) return {};
  const std::string text(bitmap->range);
  const std::string_view data = bitmap->data;
  const auto cidr = ip::ParseCidr(text);
  const auto ports = ip::ParsePortRange(text);
  Values values;
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    const auto byte = static_cast<unsigned char>(data[data.size() - 1 - bit / 8]);
    if ((byte >> (bit % 8) & 1U) == 0) continue;
    values.insert(cidr ? ip::Addr(cidr->family(), cidr->First().bits() + 1 + bit).ToString()
                       : std::to_string(ports->first() + bit));
  }
  return values;
}

Form FormOf(const Value& object) {
  using allocation::AllocationForm;
  const std::string_view text = codec::StringAt(object, "spec", "allocations", "form");
  Form form{.removing = codec::BoolAt(object, "spec", "allocations", "removing")};
  for (const auto each :
       {AllocationForm::kBitmaps, AllocationForm::kToRecords, AllocationForm::kToBitmaps}) {
    if (text == allocation::FormText(each)) form.form = each;
  }
  return form;
}

/// Applies one event after the other.
class Reading {
 public:
  Reading(World& world, const registry::Kinds& kinds) : world_(world), kinds_(kinds) {
    specs_ = world.cluster->ToSpecs();
  }

  void Read(const store::Event& event) {
    world_.revision = event.revision.value;
    const bool gone = event.type == store::Event::Type::kDelete;
    Value object;
    if (!gone) {
      const auto stored = codec::DecodeStored(event.value);
      if (stored) object = stored->object;
    }
    const std::string name = NameIn(event.key);
    const bool ports = Is(event.key, api::kNodePortRangeKind);
    if (Is(event.key, api::kServiceKind)) {
      world_.services.erase(name);
      if (gone) return;
      world_.services[name] = std::make_shared<const StoredService>(
          StoredService{.service = FromValue(object), .revision = event.revision.value});
    } else if (Is(event.key, api::kIpAddressKind) || Is(event.key, api::kNodePortKind)) {
      world_.records.erase(name);
      if (gone) return;
      world_.records[name] =
          Is(event.key, api::kNodePortKind) ? PortRecord(object) : AddressRecord(object);
    } else if (ports || Is(event.key, api::kIpRangeKind)) {
      ranges_changed_ = true;
      specs_.erase((ports ? "ports/" : "addresses/") + name);
      if (gone) return;
      RangeSpec spec = RangeFromValue(object, ports);
      specs_.emplace(Cluster::KeyOf(spec), std::move(spec));
    } else if (Is(event.key, api::kServiceCidrKind)) {
      const auto cidrs = codec::Texts(codec::ArrayAt(object, "spec", "cidrs"));
      world_.cidrs = Values(cidrs.begin(), cidrs.end());
    } else if (event.key == allocation::kFormKey) {
      world_.form = FormOf(object);
    } else if (event.key.starts_with(kFences)) {
      ReadFence(name, object);
    } else if (Is(event.key, api::kRangeAllocationKind)) {
      world_.bits.erase(event.key);
      if (!gone) world_.bits[event.key] = BitsOf(event.value);
    }
  }

  void Finish() {
    world_.taken_bits.clear();
    for (const auto& [key, values] : world_.bits) {
      world_.taken_bits.insert(values.begin(), values.end());
    }
    if (!ranges_changed_) return;
    world_.cluster = std::make_shared<const Cluster>(specs_, *world_.cluster);
  }

 private:
  bool Is(const std::string& key, const api::Kind& kind) const {
    return key.starts_with(kinds_.FindRow(kind)->prefix);
  }

  void ReadFence(const std::string& name, const Value& object) {
    static const std::map<std::string, PoolOf> kPools = {
        {"ipv4", PoolOf::kIpv4}, {"ipv6", PoolOf::kIpv6}, {"nodeports", PoolOf::kPorts}};
    const auto pool = kPools.find(name);
    if (pool == kPools.end()) return;
    world_.closed.erase(pool->second);
    if (codec::HasAt(object, "spec", "closing")) world_.closed.insert(pool->second);
  }

  World& world_;
  const registry::Kinds& kinds_;
  Cluster::Specs specs_;
  bool ranges_changed_ = false;
};

// Checks.

Values UsesIn(const Service& service, const std::string& value) {
  Values uses;
  for (const Port& port : service.ports) {
    if (service.HasNodePorts() && std::to_string(port.node) == value) {
      uses.insert(UseText(port.name, port.port, port.protocol));
    }
  }
  return uses;
}

/// Returns what is wrong with the record of a value that a Service has, or "".
std::string CheckHolding(const std::string& value, const Record& record, const std::string& name,
                         const Service& service) {
  if (record.state != Record::State::kAllocated || record.name_space != "shop" ||
      record.name != name) {
    return fmt::format("{} of {} is recorded as {}", value, name, ToText(record));
  }
  if (!record.reserved_for.empty() && record.reserved_for != name) {
    return fmt::format("{} of {} is reserved for {}", value, name, record.reserved_for);
  }
  if (PoolOfValue(value) != PoolOf::kPorts) return "";
  if (record.uid != service.uid) {
    return fmt::format("{} of {} is recorded for another uid, {}", value, name, record.uid);
  }
  const Values uses = UsesIn(service, value);
  const bool health = record.purpose == "HealthCheck";
  if (health == uses.empty() && record.uses == uses) return "";
  return fmt::format("{} of {} is for {}, but recorded as {}", value, name, uses, ToText(record));
}

std::string CheckRecord(const std::string& value, const Record& record, const World& world,
                        const std::map<std::string, std::string>& owners) {
  const auto is = [&record](Record::State state) { return record.state == state; };
  if (is(Record::State::kAllocated) && !owners.contains(value)) {
    return fmt::format("{} is {}, who does not have it", value, ToText(record));
  }
  const bool ends = is(Record::State::kPending) || is(Record::State::kCooling);
  if (ends != record.until.has_value()) return value + " ends never, or early: " + ToText(record);
  if (is(Record::State::kPending) && record.reserved_for.empty()) {
    return value + " is held without an owner";
  }
  if (record.by_hand || is(Record::State::kCooling) || world.cluster->Covers(value)) return "";
  return fmt::format("{} ({}) is in no range", value, ToText(record));
}

std::string CheckForm(const World& world, const Values& held) {
  using allocation::AllocationForm;
  const Values& bits = world.taken_bits;
  if (world.form.BitmapsCount() && bits != held) {
    return fmt::format("the bitmaps have {}, Services {}", bits, held);
  }
  if (allocation::WritesBitmaps(world.form.form) && !std::ranges::includes(held, bits)) {
    return "the bitmaps have more than Services";
  }
  if (world.form.removing) return "";
  if (world.form.form == AllocationForm::kRecords && !world.bits.empty()) return "bitmaps are left";
  const bool records = world.form.form == AllocationForm::kBitmaps && !world.records.empty();
  return records ? "records are left" : "";
}

std::string CheckRanges(const World& world) {
  Values texts;
  size_t primary = 0;
  for (const PoolOf pool : {PoolOf::kIpv4, PoolOf::kIpv6}) {
    for (const RangePtr& range : world.cluster->At(pool)) {
      primary += range->spec().primary;
      if (range->spec().IsWellKnown()) texts.insert(range->spec().text);
    }
  }
  if (primary != 1) return fmt::format("{} ranges are primary", primary);
  if (texts == world.cidrs) return "";
  return fmt::format("the ServiceCIDR has {}, its ranges {}", world.cidrs, texts);
}

}  // namespace

World Apply(const World& world, const std::vector<store::EventPtr>& events,
            const registry::Kinds& kinds) {
  World next = world;
  Reading reading(next, kinds);
  for (const store::EventPtr& event : events) reading.Read(*event);
  reading.Finish();
  return next;
}

std::string CheckWorld(const World& world) {
  std::map<std::string, std::string> owners;
  Values held;
  for (const auto& [name, stored] : world.services) {
    for (const std::string& value : stored->service.Held()) {
      const auto [owner, first] = owners.emplace(value, name);
      if (!first) return fmt::format("{} and {} both have {}", owner->second, name, value);
      held.insert(value);
      if (!world.cluster->Covers(value)) {
        return fmt::format("{} has {}, which is in no range", name, value);
      }
      const Record* record = world.RecordOf(value);
      if (record == nullptr) {
        if (world.form.BitmapsCount()) continue;
        return fmt::format("{} of {} has no record", value, name);
      }
      if (world.form.removing && world.form.BitmapsCount()) continue;
      std::string wrong = CheckHolding(value, *record, name, stored->service);
      if (!wrong.empty()) return wrong;
    }
  }
  for (const auto& [value, record] : world.records) {
    if (world.form.removing && world.form.BitmapsCount()) break;  // They no longer count.
    std::string wrong = CheckRecord(value, record, world, owners);
    if (!wrong.empty()) return wrong;
  }
  std::string wrong = CheckForm(world, held);
  return wrong.empty() ? CheckRanges(world) : wrong;
}

}  // namespace berth::model
