// The query of a URL, split into parameters and percent-decoded. A pure value; any bytes may be
// given.
//
// Parameters after the first kMaxParameters are ignored. No valid request has as many.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::server {

class Query {
 public:
  static constexpr size_t kMaxParameters = 256;

  Query() = default;
  /// Parses a query, given without the question mark. Drops parts with a bad escape, as Go does.
  explicit Query(std::string_view text);

  /// Returns the first value of a parameter, or null if it is not given.
  const std::string* Find(std::string_view name) const;
  /// Returns the first value of a parameter, or an empty text if it is not given.
  std::string_view Get(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  bool empty() const { return parameters_.empty(); }

  /// Returns whether the parameter is given and is neither "0" nor "false" (in any case).
  bool Flag(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// Returns nullopt if an escape is broken. In queries a plus is a space, in paths it is not.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace berth::server
