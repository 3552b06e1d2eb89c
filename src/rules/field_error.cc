#include "rules/field_error.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "base/go_text.h"
#include "codec/json.h"

namespace berth::rules {
namespace {

struct TypeText {
  std::string_view text;
  std::string_view reason;
  bool shows_value;
};

/// In the order of FieldErrorType.
constexpr auto kTypes = std::to_array<TypeText>({
    {"Not found", "FieldValueNotFound", true},
    {"Required value", "FieldValueRequired", false},
    {"Duplicate value", "FieldValueDuplicate", true},
    {"Invalid value", "FieldValueInvalid", true},
    {"Unsupported value", "FieldValueNotSupported", true},
    {"Forbidden", "FieldValueForbidden", false},
    {"Too long", "FieldValueTooLong", false},
    {"Too many", "FieldValueTooMany", true},
    {"Internal error", "InternalError", false},
});

const TypeText& TextOf(FieldErrorType type) { return kTypes.at(static_cast<size_t>(type)); }

/// Escapes characters that HTML would take for markup, as Go's encoder does. In JSON text these
/// characters occur only inside strings.
std::string EscapeHtml(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

Path Path::Child(std::string_view name) const { return Path(fmt::format("{}.{}", text_, name)); }

Path Path::Index(size_t index) const { return Path(fmt::format("{}[{}]", text_, index)); }

Path Path::Key(std::string_view key) const { return Path(fmt::format("{}[{}]", text_, key)); }

std::string_view CauseReason(FieldErrorType type) { return TextOf(type).reason; }

std::string PrintValue(const codec::Value& value) {
  if (const std::string* text = value.AsString(); text != nullptr) return base::GoQuoted(*text);
  return EscapeHtml(codec::WriteJson(value));
}

std::string FieldError::Body() const {
  const TypeText& text = TextOf(type);
  std::string body(text.text);
  if (text.shows_value) body += ": " + PrintValue(value);
  if (!detail.empty()) body += ": " + detail;
  return body;
}

std::string FieldError::ToString() const { return fmt::format("{}: {}", field, Body()); }

void FieldErrors::NotFound(const Path& path, codec::Value value) {
  Add({.type = FieldErrorType::kNotFound, .field = path.text(), .value = std::move(value)});
}

void FieldErrors::Required(const Path& path, std::string_view detail) {
  Add({.type = FieldErrorType::kRequired, .field = path.text(), .detail = std::string(detail)});
}

void FieldErrors::Duplicate(const Path& path, codec::Value value) {
  Add({.type = FieldErrorType::kDuplicate, .field = path.text(), .value = std::move(value)});
}

void FieldErrors::Invalid(const Path& path, codec::Value value, std::string_view detail) {
  Add({.type = FieldErrorType::kInvalid,
       .field = path.text(),
       .value = std::move(value),
       .detail = std::string(detail)});
}

void FieldErrors::NotSupported(const Path& path, codec::Value value,
                               std::initializer_list<std::string_view> supported) {
  std::string detail = "supported values: ";
  for (const std::string_view one : supported) {
    if (!detail.ends_with(' ')) detail += ", ";
    detail += base::GoQuoted(one);
  }
  Add({.type = FieldErrorType::kNotSupported,
       .field = path.text(),
       .value = std::move(value),
       .detail = std::move(detail)});
}

void FieldErrors::Forbidden(const Path& path, std::string_view detail) {
  Add({.type = FieldErrorType::kForbidden, .field = path.text(), .detail = std::string(detail)});
}

void FieldErrors::TooLong(const Path& path, size_t bytes) {
  Add({.type = FieldErrorType::kTooLong,
       .field = path.text(),
       .detail = fmt::format("may not be more than {} bytes", bytes)});
}

void FieldErrors::TooMany(const Path& path, size_t actual, size_t most) {
  Add({.type = FieldErrorType::kTooMany,
       .field = path.text(),
       .value = actual,
       .detail = fmt::format("must have at most {} item{}", most, most == 1 ? "" : "s")});
}

void FieldErrors::Internal(const Path& path, std::string_view detail) {
  Add({.type = FieldErrorType::kInternal, .field = path.text(), .detail = std::string(detail)});
}

void FieldErrors::InvalidEach(const Path& path, std::string_view value,
                              const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) Invalid(path, value, problem);
}

void FieldErrors::Add(FieldError error) {
  if (errors_.size() < kMostFieldErrors) errors_.push_back(std::move(error));
}

void FieldErrors::Append(FieldErrors other) {
  for (FieldError& error : other.errors_) Add(std::move(error));
}

std::string FieldErrors::Message() const {
  std::vector<std::string> lines;
  std::set<std::string> said;
  for (const FieldError& error : errors_) {
    const auto [line, added] = said.insert(error.ToString());
    if (added) lines.push_back(*line);
  }
  if (lines.size() == 1) return lines.front();
  return fmt::format("[{}]", fmt::join(lines, ", "));
}

std::vector<base::Cause> FieldErrors::Causes() const {
  std::vector<base::Cause> causes;
  causes.reserve(errors_.size());
  for (const FieldError& error : errors_) {
    causes.push_back({.reason = std::string(CauseReason(error.type)),
                      .message = error.Body(),
                      .field = error.field});
  }
  return causes;
}

base::Error FieldErrors::ToError(std::string_view kind, std::string_view name) const {
  return {.reason = base::Reason::kInvalid,
          .message = fmt::format("{} {} is invalid: {}", kind, base::GoQuoted(name), Message()),
          .causes = Causes()};
}

}  // namespace berth::rules
