// For tests only: records of values and ranges as "namespaces" of the test resources: "10.0.0.1" is
// a record, "r10.0.0.0_28" a range.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit/allocations.h"
#include "ip/cidr.h"
#include "state/testing.h"

namespace berth::commit::testing {

inline RecordReader Reader() {
  return {.value = [](const state::Object& object) -> std::optional<PoolValue> {
            const auto address = ip::ParseAddr(object.Name());
            if (!address) return std::nullopt;
            return PoolValue{.pool = PoolOf(address->family()), .value = address->bits()};
          },
          .is_range = [](const state::Object& object) { return object.Name()[0] == 'r'; },
          .rows =
              [](const state::Object& object) {
                std::string text(object.Name().substr(1));
                text[text.find('_')] = '/';
                const auto cidr = ip::ParseCidr(text).value();
                std::vector<std::pair<PoolId, alloc::RangeRow>> rows;
                rows.emplace_back(
                    PoolOf(cidr.family()),
                    alloc::RangeRow{.name = text, .text = text, .layout = *alloc::LayoutOf(cidr)});
                return rows;
              }};
}

inline std::string RecordKey(const std::string& name) { return "/registry/namespaces/" + name; }

inline std::string NameOf(const PoolValue& value) {
  const auto family = value.pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
  return ip::Addr(family, value.value).ToString();
}

}  // namespace berth::commit::testing
