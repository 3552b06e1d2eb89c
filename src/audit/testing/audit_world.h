// For tests only: everything that a pass looks at, as plain facts that a test can damage.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/pool_id.h"
#include "audit/facts.h"
#include "audit/pass.h"
#include "audit/read.h"
#include "codec/value.h"
#include "ip/addr.h"
#include "rules/range_spec.h"

namespace berth::audit::testing {

inline alloc::PoolValue Address(std::string_view text) {
  const auto addr = ip::ParseAddr(text).value();
  return {.pool = alloc::PoolOf(addr.family()), .value = addr.bits()};
}
inline alloc::PoolValue Port(uint16_t number) {
  return {.pool = alloc::PoolId::kPorts, .value = number};
}

inline const PortUse kHttp = {.name = "http", .port = 80, .protocol = "TCP"};

struct World {
  Keeps keeps = Keeps::kRecords;
  std::vector<ServiceFacts> services = {};
  std::vector<RecordFacts> records = {};
  std::vector<RangeObjectFacts> ranges = {};
  std::vector<BitmapFacts> bitmaps = {};

  /// Adds an IPRange or, if the range is one of ports, a NodePortRange. `more` are further members
  /// of the spec.
  RangeObjectFacts& AddRange(const std::string& name, const std::string& range,
                             const std::vector<std::pair<std::string, codec::Value>>& more = {}) {
    codec::Object spec{{"range", range}};
    for (const auto& [member, value] : more) spec.Set(member, value);
    const bool ports = range.find('/') == std::string::npos;
    ranges.push_back(ReadRange(
        ports ? alloc::RangeKind::kNodePortRange : alloc::RangeKind::kIpRange,
        codec::Object{{"metadata", codec::Object{{"name", name}}}, {"spec", std::move(spec)}}));
    ranges.back().key = (ports ? "/nodeportranges/" : "/ipranges/") + name;
    return ranges.back();
  }

  /// Adds a Service "shop/<name>".
  ServiceFacts& AddService(const std::string& name, const std::vector<HeldValue>& holds) {
    services.push_back({.object = {.resource = "services",
                                   .name_space = "shop",
                                   .name = name,
                                   .uid = "uid-of-" + name,
                                   .revision = 7},
                        .holds = holds});
    return services.back();
  }

  /// Adds the record of a value that the Service has.
  RecordFacts& AddRecord(const ServiceFacts& service, const HeldValue& held) {
    const bool port = held.value.pool == alloc::PoolId::kPorts;
    RecordFacts record{.object = {.resource = port ? "nodeports" : "ipaddresses",
                                  .name = alloc::TextOf(held.value),
                                  .revision = 8},
                       .value = held.value,
                       .service_namespace = service.object.name_space,
                       .service_name = service.object.name,
                       .service_uid = service.object.uid};
    if (port) {
      record.range = rules::kNodePortRangeName;
      record.health_check = held.health_check;
      record.ports = held.ports;
    } else {
      const bool v4 = held.value.pool == alloc::PoolId::kIpv4;
      record.range = v4 ? rules::kIpv4RangeName : rules::kIpv6RangeName;
      record.family = v4 ? "IPv4" : "IPv6";
    }
    records.push_back(std::move(record));
    return records.back();
  }

  /// Adds a Service with the records of all its values.
  void Add(const std::string& name, const std::vector<HeldValue>& holds) {
    AddService(name, holds);
    const ServiceFacts service = services.back();
    for (const HeldValue& held : holds) AddRecord(service, held);
  }

  RecordFacts& RecordOf(const alloc::PoolValue& value) {
    for (RecordFacts& record : records) {
      if (record.value == value) return record;
    }
    return records.front();
  }

  Report Check() const {
    Pass pass({.keeps = keeps, .revision = 42});
    for (const ServiceFacts& service : services) pass.AddService(service);
    for (const RecordFacts& record : records) pass.AddRecord(record);
    for (const RangeObjectFacts& range : ranges) pass.AddRange(range);
    for (const BitmapFacts& bitmap : bitmaps) pass.AddBitmap(bitmap);
    return std::move(pass).Finish();
  }
};

/// Returns the ranges of a new store, and three Services with addresses and ports of both purposes.
inline World SmallWorld() {
  World world;
  world.AddRange(std::string(rules::kIpv4RangeName), "10.96.0.0/24", {{"primary", true}});
  world.AddRange(std::string(rules::kIpv6RangeName), "fd00::/112");
  world.AddRange(std::string(rules::kNodePortRangeName), "30000-30099");
  world.Add("dns", {{.value = Address("10.96.0.10")}, {.value = Address("fd00::a")}});
  world.Add("web", {{.value = Address("10.96.0.20")}, {.value = Port(30080), .ports = {kHttp}}});
  world.Add("edge", {{.value = Address("10.96.0.30")},
                     {.value = Port(30090), .ports = {kHttp}},
                     {.value = Port(30091), .health_check = true}});
  return world;
}

/// Returns the same in bitmaps.
inline World SmallBitmapWorld() {
  World world = SmallWorld();
  world.keeps = Keeps::kBitmaps;
  world.records.clear();
  world.bitmaps = {{.object = {.resource = "rangeallocations", .name = "serviceips"},
                    .pool = alloc::PoolId::kIpv4,
                    .range = "10.96.0.0/24"},
                   {.object = {.resource = "rangeallocations", .name = "secondaryserviceips"},
                    .pool = alloc::PoolId::kIpv6,
                    .range = "fd00::/112"},
                   {.object = {.resource = "rangeallocations", .name = "servicenodeports"},
                    .pool = alloc::PoolId::kPorts,
                    .range = "30000-30099"}};
  for (const ServiceFacts& service : world.services) {
    for (const HeldValue& held : service.holds) {
      for (BitmapFacts& bitmap : world.bitmaps) {
        if (bitmap.pool == held.value.pool) bitmap.values.push_back(held.value.value);
      }
    }
  }
  return world;
}

}  // namespace berth::audit::testing
