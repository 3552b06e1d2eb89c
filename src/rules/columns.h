// Columns and cells that the tables of several kinds share. Pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/clock.h"
#include "codec/read.h"
#include "codec/value.h"
#include "rules/age.h"
#include "rules/table.h"

namespace berth::rules {

inline constexpr Column kNameColumn{
    .name = "Name", .format = "name", .description = "Name of the object."};
inline constexpr Column kAgeColumn{.name = "Age",
                                   .description = "Time since the object was created."};
/// The age, where the time since another event is what matters more.
inline constexpr Column kWideAgeColumn{
    .name = "Age", .description = "Time since the object was created.", .priority = 1};
inline constexpr Column kSinceColumn{.name = "Since",
                                     .description = "How long it has been in this state."};
inline constexpr std::string_view kNoneCell = "<none>";

inline codec::Value NameCell(const codec::Value& object) {
  return StringAt(object, "metadata", "name");
}

inline codec::Value AgeCell(const codec::Value& object, base::WallTime now) {
  return Age(StringAt(object, "metadata", "creationTimestamp"), now);
}

/// Returns how long an address or a port has been in its state.
inline codec::Value SinceCell(const codec::Value& object, base::WallTime now) {
  return Age(StringAt(object, "status", "since"), now);
}

/// Returns the Service that holds an address or a port, or else the one that it is reserved for.
inline std::string HolderCell(const codec::Value& object) {
  const codec::Value* service = FindAt(object, "status", "service");
  if (service == nullptr) service = FindAt(object, "spec", "reservedFor");
  if (service == nullptr) return std::string(kNoneCell);
  return fmt::format("{}/{}", StringAt(*service, "namespace"), StringAt(*service, "name"));
}

}  // namespace berth::rules
