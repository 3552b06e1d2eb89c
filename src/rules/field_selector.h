// Field selectors: `metadata.name=a,spec.type!=NodePort`, with `\` before `\`, `,` and `=` inside a
// value. Which fields there are depends on the kind. Read, written and refused as Kubernetes does.
//
// Immutable once parsed, safe from any thread. Input is bounded as that of label selectors. Errors
// are BadRequest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"

namespace berth::rules {

struct FieldRequirement {
  std::string field;
  bool equal = true;  ///< `=`; else `!=`
  std::string value;

  bool operator==(const FieldRequirement&) const = default;
};

class FieldSelector {
 public:
  /// Matches everything.
  FieldSelector() = default;

  /// `kind` is the Kind, with ".group" if it is not in the core group ("Event.events.k8s.io"). A
  /// view's fields are translated to those of the stored form: that is what Matches looks at.
  static base::Result<FieldSelector> Parse(std::string_view text, std::string_view kind);

  bool empty() const { return requirements_.empty(); }
  const std::vector<FieldRequirement>& requirements() const { return requirements_; }

  bool Matches(const codec::Value& object) const;

  /// The same selector for objects whose values of a field have been replaced as `replace` says. A
  /// value that it replaces by nothing is one that no object has; "" must be one as well.
  FieldSelector WithValues(
      std::string_view field,
      const std::function<std::optional<std::string>(std::string_view)>& replace) const;

  /// The one value a field must have, if the selector says so; for reading a single key.
  std::optional<std::string_view> RequiredValue(std::string_view field) const;

  /// Canonical; parses to an equal selector (for a kind whose fields need no translation).
  std::string ToString() const;

  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

/// What a field selector sees of an object: the text of a supported field, "" if it is unset.
std::string_view SelectableField(const codec::Value& object, std::string_view field);

}  // namespace berth::rules
