// What a person types to find something, read once for everything that looks for it: the search,
// the map and the table. Pure.
//
// These are read, in this order:
//
//   service:shop/web  namespace:shop  label:app=web  label:app  type:NodePort   exactly these
//   10.96.0.10  30080                                                           a value
//   10.96.0.0/20  30000-30100  10.96.                                           values
//   app=web                                                                     a label
//   anything else: a part of "namespace/name" of a Service, or the key of a label
//
// The number of a port is also a part of a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "alloc/pool_id.h"
#include "base/result.h"
#include "inspect/cluster.h"
#include "inspect/question.h"

namespace berth::inspect {

inline constexpr size_t kMostFilterBytes = 256;

/// Returns whether `labels`, as a Service has them, has this key, and this value if one is given.
bool HasLabel(std::string_view labels, std::string_view key,
              const std::optional<std::string>& value);

class Filter {
 public:
  /// Matches nothing.
  Filter() = default;
  /// Blanks around the text do not count. Fails with kInvalid if the text is too long.
  static base::Result<Filter> Read(std::string_view text);

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

  /// The values that the text means, if it means values.
  const std::optional<WrittenRange>& values() const { return values_; }

  /// Returns whether Services can match. Otherwise only values can.
  bool MeansServices() const { return kind_ != Kind::kNone && kind_ != Kind::kValues; }

  bool MatchesValue(const alloc::PoolValue& value) const {
    return values_ && values_->pool == value.pool && values_->values.Contains(value.value);
  }
  /// Return whether a Service or a record matches by its names. A value of it may match anyway.
  bool Matches(const Service& service) const;
  bool Matches(const Record& record) const;

  /// Return whether a Service has a label that the text means, and whether a label is one.
  bool MatchesLabels(const Service& service) const {
    return !key_.empty() && HasLabel(service.labels, key_, label_);
  }
  bool IsLabel(std::string_view key, std::string_view value) const {
    return key == key_ && (!label_ || value == *label_);
  }

  /// How well a text fits a name; the best comes first.
  enum class Fit : uint8_t { kExact, kBegin, kPart, kNone };
  Fit FitOf(std::string_view name) const;
  Fit FitOf(const audit::ObjectRef& service) const;

 private:
  enum class Kind : uint8_t { kNone, kText, kService, kNamespace, kLabel, kType, kValues };

  bool MatchesName(std::string_view name_space, std::string_view name) const;

  Kind kind_ = Kind::kNone;
  std::string text_;
  std::string name_space_;  // Of kService and kNamespace; the part of a text before a slash.
  std::string name_;        // Of kService; the rest of a text.
  bool has_slash_ = false;
  std::string key_;                   // Of a label.
  std::optional<std::string> label_;  // The value of a label.
  bool also_text_ = false;            // The number of a port.
  std::optional<WrittenRange> values_;
};

/// Calls `visit(key, value)` for each label.
template <typename Visit>
void ForEachLabel(std::string_view labels, const Visit& visit) {
  while (!labels.empty()) {
    const std::string_view label = labels.substr(0, labels.find(','));
    const size_t equals = label.find('=');
    visit(label.substr(0, equals),
          equals == std::string_view::npos ? std::string_view() : label.substr(equals + 1));
    labels.remove_prefix(label.size() < labels.size() ? label.size() + 1 : label.size());
  }
}

}  // namespace berth::inspect
