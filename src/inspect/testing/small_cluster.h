// For tests only: makes views of clusters in a few words.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "inspect/census.h"
#include "inspect/cluster_reader.h"
#include "inspect/question.h"

namespace berth::inspect {

inline alloc::PoolValue ValueOf(std::string_view text) { return ReadValue(text).value(); }

struct TestService {
  std::string name_space = "shop";
  std::string name = {};
  std::vector<std::string> values = {};  ///< "10.96.0.1", "30080".
  Origin origin = Origin::kUnknown;      ///< Of all values.
  std::string manager = {};
  std::string type = "ClusterIP";
  std::string created = {};  ///< Empty if the source does not show it.
};

class SmallCluster {
 public:
  explicit SmallCluster(std::string_view now = "2026-11-18T12:00:00Z")
      : reader_({.source = "test.json", .read_at = At(now)}) {}

  static base::WallTime At(std::string_view time) { return codec::ParseTime(time).value(); }

  /// Adds a range. A CIDR becomes a ServiceCIDR, ports become a NodePortRange.
  SmallCluster& Range(std::string_view text) {
    static_cast<void>(reader_.AddGivenRange(text, "given", /*exact=*/true));
    return *this;
  }
  /// Adds an IPRange whose spec has these members, as JSON.
  SmallCluster& IpRange(const std::string& spec) {
    codec::Value object;
    codec::SetAt(object, {"metadata", "name"}, "own");
    codec::SetAt(object, {"spec"}, codec::ParseJson(spec).value());
    reader_.AddRange(alloc::RangeKind::kIpRange, object);
    return *this;
  }

  SmallCluster& Add(const TestService& service) {
    Service& added = reader_.view().services.emplace_back();
    added.object = {.resource = "services", .name_space = service.name_space, .name = service.name};
    added.type = service.type;
    if (!service.created.empty()) added.created = At(service.created);
    for (const std::string& text : service.values) {
      Held& held = added.holds.emplace_back();
      held.value = ValueOf(text);
      held.origin = service.origin;
      held.manager = service.manager;
      if (held.value.pool == alloc::PoolId::kPorts) {
        held.ports = {{.name = "http", .port = 80, .protocol = "TCP"}};
      }
    }
    return *this;
  }

  /// Adds Services with all addresses from 10.96.0.`first` to 10.96.0.`last`.
  SmallCluster& Row(int first, int last, Origin origin = Origin::kUnknown) {
    for (int i = first; i <= last; ++i) {
      Add({.name = fmt::format("s{}", 1000 + i),
           .values = {fmt::format("10.96.0.{}", i)},
           .origin = origin});
    }
    return *this;
  }

  /// Adds a record. An allocated one is of the Service `whom`; a reserved one is for it.
  SmallCluster& Record(std::string_view value, rules::RecordState state, const std::string& whom) {
    inspect::Record& record = reader_.view().records.emplace_back();
    record.facts.value = ValueOf(value);
    const bool port = record.facts.value.pool == alloc::PoolId::kPorts;
    record.facts.object = {.resource = port ? "nodeports" : "ipaddresses",
                           .name = std::string(value)};
    record.facts.state = state;
    if (state == rules::RecordState::kAllocated) {
      record.facts.service_namespace = whom.substr(0, whom.find('/'));
      record.facts.service_name = whom.substr(whom.find('/') + 1);
    } else {
      record.facts.reserved_for = whom;
    }
    return *this;
  }

  Cluster& view() { return reader_.view(); }
  Cluster Finish() { return std::move(reader_).Finish(); }

 private:
  ClusterReader reader_;
};

}  // namespace berth::inspect
