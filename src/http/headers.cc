#include "http/headers.h"

#include "base/ascii.h"

namespace berth::http {
namespace {

bool BreaksLine(char c) { return c == '\r' || c == '\n' || c == '\0'; }

}  // namespace

Headers::Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  for (const auto& [name, value] : fields) Add(name, value);
}

void Headers::Add(std::string_view name, std::string_view value) {
  if (fields_.empty()) {  // Reserves enough for most requests and answers.
    fields_.reserve(8);
    text_.reserve(256);
  }
  fields_.push_back({.begin = static_cast<uint32_t>(text_.size()),
                     .name_size = static_cast<uint32_t>(name.size()),
                     .value_size = static_cast<uint32_t>(value.size())});
  const size_t name_at = text_.size();
  text_.append(name).append(value);
  char* const at = text_.data() + name_at;
  for (size_t i = 0; i < name.size(); ++i) at[i] = BreaksLine(at[i]) ? '-' : base::ToLower(at[i]);
  for (size_t i = name.size(); i < name.size() + value.size(); ++i) {
    at[i] = BreaksLine(at[i]) ? ' ' : at[i];
  }
}

void Headers::AddUnique(std::string_view name, std::string_view value) {
  Add(name, value);
  fields_.back().unique = true;
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (const Header header = (*this)[i]; header.name == name) return header.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::FindAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (const Header header = (*this)[i]; header.name == name) values.push_back(header.value);
  }
  return values;
}

Header Headers::operator[](size_t i) const {
  const Field& field = fields_[i];
  const std::string_view text = text_;
  return {.name = text.substr(field.begin, field.name_size),
          .value = text.substr(field.begin + field.name_size, field.value_size),
          .unique = field.unique};
}

}  // namespace berth::http
