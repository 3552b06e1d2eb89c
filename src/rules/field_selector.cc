#include "rules/field_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/go_text.h"
#include "codec/read.h"
#include "rules/allocated_address.h"
#include "rules/selector.h"

namespace berth::rules {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

/// A field that a kind can be selected by, and its name in the stored form.
struct Selectable {
  std::string_view label;
  std::string_view stored;
  /// Converts a value to the stored form. Returns nullopt if no object can have the value. Null if
  /// values are stored as they are shown.
  std::optional<std::string> (*to_stored)(std::string_view) = nullptr;
};

constexpr auto kServiceFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name"},
    {"metadata.namespace", "metadata.namespace"},
    {"spec.clusterIP", "spec.clusterIP"},
    {"spec.type", "spec.type"},
});
constexpr auto kNamespaceFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name"},
    {"status.phase", "status.phase"},
});
constexpr auto kEventFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name"},
    {"metadata.namespace", "metadata.namespace"},
    {"involvedObject.kind", "involvedObject.kind"},
    {"involvedObject.namespace", "involvedObject.namespace"},
    {"involvedObject.name", "involvedObject.name"},
    {"involvedObject.uid", "involvedObject.uid"},
    {"involvedObject.apiVersion", "involvedObject.apiVersion"},
    {"involvedObject.resourceVersion", "involvedObject.resourceVersion"},
    {"involvedObject.fieldPath", "involvedObject.fieldPath"},
    {"reason", "reason"},
    {"reportingComponent", "reportingComponent"},
    {"source", "source"},
    {"type", "type"},
});
constexpr auto kNewEventFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name"},
    {"metadata.namespace", "metadata.namespace"},
    {"regarding.kind", "involvedObject.kind"},
    {"regarding.namespace", "involvedObject.namespace"},
    {"regarding.name", "involvedObject.name"},
    {"regarding.uid", "involvedObject.uid"},
    {"regarding.apiVersion", "involvedObject.apiVersion"},
    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"regarding.fieldPath", "involvedObject.fieldPath"},
    {"reason", "reason"},
    {"reportingController", "reportingComponent"},
    {"type", "type"},
});
constexpr auto kNodeFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name"},
    {"spec.unschedulable", "spec.unschedulable"},
});
/// An address is stored under its text. The name that this view shows is the address as a number.
constexpr auto kAllocatedAddressFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name", AddressOfName},
    {"metadata.namespace", "metadata.namespace"},
    {"spec.address", "metadata.name"},
});
constexpr auto kDefaultFields = std::to_array<Selectable>({
    {"metadata.name", "metadata.name"},
    {"metadata.namespace", "metadata.namespace"},
});

struct KindFields {
  std::string_view kind;
  std::span<const Selectable> fields;
};

constexpr auto kKinds = std::to_array<KindFields>({
    {"Service", kServiceFields},
    {"Namespace", kNamespaceFields},
    {"Node", kNodeFields},
    {"Event", kEventFields},
    {"Event.events.k8s.io", kNewEventFields},
    {"IPAddress.allocation.berth.io", kAllocatedAddressFields},
});

Result<const Selectable*> FindSelectable(std::string_view label, std::string_view kind) {
  const auto* const own = std::ranges::find(kKinds, kind, &KindFields::kind);
  const bool has_own = own != kKinds.end();
  const std::span<const Selectable> fields = has_own ? own->fields : kDefaultFields;
  const auto field = std::ranges::find(fields, label, &Selectable::label);
  if (field != fields.end()) return &*field;
  if (has_own)
    return Fail(Reason::kBadRequest, fmt::format("field label not supported: {}", label));
  return Fail(Reason::kBadRequest,
              fmt::format("{} is not a known field selector: only \"metadata.name\", "
                          "\"metadata.namespace\"",
                          base::GoQuoted(label)));
}

/// Splits at commas that are not escaped. The terms are sorted, as Kubernetes parses them.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  std::ranges::sort(terms);
  return terms;
}

struct Term {
  std::string_view field;
  bool equal;
  std::string_view value;
};

std::optional<Term> SplitTerm(std::string_view term) {
  for (size_t i = 0; i < term.size(); ++i) {
    const std::string_view rest = term.substr(i);
    if (rest.starts_with("!=")) return Term{term.substr(0, i), false, term.substr(i + 2)};
    if (rest.starts_with("==")) return Term{term.substr(0, i), true, term.substr(i + 2)};
    if (rest.starts_with('=')) return Term{term.substr(0, i), true, term.substr(i + 1)};
  }
  return std::nullopt;
}

/// Returns the bytes of the UTF-8 character at the front, or 1 if it is not a valid character.
size_t CharacterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(size, text.size());
}

Result<std::string> Unescaped(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ',' || c == '=') {
      return Fail(Reason::kBadRequest,
                  fmt::format("invalid field selector: unescaped character in value: {}",
                              static_cast<int>(c)));
    }
    if (c == '\\') {
      const std::string_view rest = text.substr(i + 1);
      if (rest.empty() || (rest[0] != '\\' && rest[0] != ',' && rest[0] != '=')) {
        return Fail(Reason::kBadRequest,
                    fmt::format("invalid field selector: invalid escape sequence: \\{}",
                                rest.empty() ? rest : rest.substr(0, CharacterSize(rest))));
      }
      c = rest[0];
      ++i;
    }
    value += c;
  }
  return value;
}

std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text, std::string_view kind) {
  if (text.size() > kMaxSelectorBytes) {
    return Fail(Reason::kBadRequest,
                fmt::format("field selector has {} bytes, more than the {} that are read",
                            text.size(), kMaxSelectorBytes));
  }
  FieldSelector selector;
  for (const std::string_view part : SplitTerms(text)) {
    if (part.empty()) continue;
    const std::optional<Term> term = SplitTerm(part);
    if (!term.has_value()) {
      return Fail(Reason::kBadRequest,
                  fmt::format("invalid selector: '{}'; can't understand '{}'", text, part));
    }
    auto value = Unescaped(term->value);
    if (!value.has_value()) return tl::unexpected(value.error());
    selector.requirements_.push_back(
        {.field = std::string(term->field), .equal = term->equal, .value = *std::move(value)});
  }
  for (FieldRequirement& requirement : selector.requirements_) {
    const auto field = FindSelectable(requirement.field, kind);
    if (!field.has_value()) return tl::unexpected(field.error());
    const Selectable& selectable = **field;
    requirement.field = selectable.stored;
    if (selectable.to_stored == nullptr) continue;
    requirement.value = selectable.to_stored(requirement.value).value_or("");
  }
  return selector;
}

bool FieldSelector::Matches(const codec::Value& object) const {
  return std::ranges::all_of(requirements_, [&object](const FieldRequirement& requirement) {
    return (SelectableField(object, requirement.field) == requirement.value) == requirement.equal;
  });
}

std::optional<std::string_view> FieldSelector::RequiredValue(std::string_view field) const {
  for (const FieldRequirement& requirement : requirements_) {
    if (requirement.equal && requirement.field == field) return requirement.value;
  }
  return std::nullopt;
}

std::string FieldSelector::ToString() const {
  std::string text;
  for (const FieldRequirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.field + (requirement.equal ? "=" : "!=") + Escaped(requirement.value);
  }
  return text;
}

std::string_view SelectableField(const codec::Value& object, std::string_view field) {
  if (field == "source") {
    const std::string_view component = StringAt(object, "source", "component");
    return component.empty() ? StringAt(object, "reportingComponent") : component;
  }
  if (field == "spec.unschedulable") {
    return BoolAt(object, "spec", "unschedulable") ? "true" : "false";
  }
  const size_t dot = field.find('.');
  if (dot == std::string_view::npos) return StringAt(object, field);
  return StringAt(object, field.substr(0, dot), field.substr(dot + 1));
}

}  // namespace berth::rules
