// Field selectors: `metadata.name=a,spec.type!=NodePort`, with `\` before `\`, `,` and `=` inside a
// value. The supported fields depend on the kind. They are parsed, printed and refused as
// Kubernetes does.
//
// A selector is immutable once parsed and safe to use from any thread. The length of the input has
// the same limit as that of label selectors. Errors are BadRequest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"

namespace berth::rules {

struct FieldRequirement {
  std::string field;
  bool equal = true;  ///< True for `=`, false for `!=`.
  std::string value;

  bool operator==(const FieldRequirement&) const = default;
};

class FieldSelector {
 public:
  /// Matches everything.
  FieldSelector() = default;

  /// Parses a selector. `kind` is the Kind, with ".group" if it is not in the core group
  /// ("Event.events.k8s.io"). Fields of a view, and names that objects have only in that view, are
  /// translated to those of the stored form, because Matches looks at stored objects. A name that
  /// no object can have becomes "", which no stored object has.
  static base::Result<FieldSelector> Parse(std::string_view text, std::string_view kind);

  bool empty() const { return requirements_.empty(); }
  const std::vector<FieldRequirement>& requirements() const { return requirements_; }

  bool Matches(const codec::Value& object) const;

  /// Returns the one value that a field must have, or nullopt if the selector does not require one.
  /// The caller can then read a single key.
  std::optional<std::string_view> RequiredValue(std::string_view field) const;

  /// Returns canonical text. It parses to an equal selector (for a kind whose fields need no
  /// translation).
  std::string ToString() const;

  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

/// Returns the text of a supported field as a field selector sees it. An unset text is "", an unset
/// bool is "false".
std::string_view SelectableField(const codec::Value& object, std::string_view field);

}  // namespace berth::rules
