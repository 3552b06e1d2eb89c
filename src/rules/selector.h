// Label selectors: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by
// commas that mean "and". They are parsed, printed and refused exactly as Kubernetes does.
//
// A selector is immutable once parsed and safe to use from any thread. Input is bounded: Parse
// refuses text longer than kMaxSelectorBytes. Errors are BadRequest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"

namespace berth::rules {

inline constexpr size_t kMaxSelectorBytes = size_t{64} * 1024;

enum class Operator : uint8_t {
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kIn,
  kNotIn,
  kExists,
  kDoesNotExist,
  kGreaterThan,
  kLessThan,
};

/// One condition. Values are sorted and without repeats.
struct Requirement {
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values = {};

  /// `value` is that of the label `key`, or nullopt if there is no such label.
  bool Matches(std::optional<std::string_view> value) const;
  std::string ToString() const;

  bool operator==(const Requirement&) const = default;
};

class LabelSelector {
 public:
  /// Matches everything.
  LabelSelector() = default;

  static base::Result<LabelSelector> Parse(std::string_view text);

  /// Returns whether the selector has no conditions.
  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }

  /// Matches the `metadata.labels` of an object.
  bool Matches(const codec::Value& object) const;

  /// Matches any other form of labels. `lookup(key)` returns std::optional<std::string_view>.
  template <typename Lookup>
  bool MatchesLookup(const Lookup& lookup) const {
    for (const Requirement& requirement : requirements_) {
      if (!requirement.Matches(lookup(std::string_view(requirement.key)))) return false;
    }
    return true;
  }

  /// Returns canonical text, sorted by key. It parses to an equal selector.
  std::string ToString() const;

  bool operator==(const LabelSelector&) const = default;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace berth::rules
