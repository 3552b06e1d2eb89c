// The query part of a URL, taken apart: what each parameter was set to, percent-decoded. A pure
// value; any bytes may be given.
//
// Bounded: of more than kMaxParameters the rest is not looked at, as no request of ours has as
// many.
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
  /// Without the question mark. A part that is not well escaped is left out, as Go does it.
  explicit Query(std::string_view text);

  /// The first value of a parameter; null when it was not given.
  const std::string* Find(std::string_view name) const;
  /// The same, empty when it was not given.
  std::string_view Get(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  bool empty() const { return parameters_.empty(); }

  /// Present and neither "0" nor "false", in any case.
  bool Flag(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// Nothing when an escape is broken. `plus_is_space`: as in queries, not in paths.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace berth::server
