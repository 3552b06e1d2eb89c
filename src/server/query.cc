#include "server/query.h"

#include <algorithm>
#include <cctype>

#include "base/ascii.h"

namespace berth::server {
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  if (text.find_first_of(plus_is_space ? "%+" : "%") == std::string_view::npos) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = base::HexDigit(text[i + 1]);
      const int low = base::HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high << 4 | low));
      i += 2;
    }
  }
  return out;
}

Query::Query(std::string_view text) {
  while (!text.empty() && parameters_.size() < kMaxParameters) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty() || part.find(';') != std::string_view::npos) continue;
    const size_t equals = std::min(part.find('='), part.size());
    auto name = PercentDecode(part.substr(0, equals), true);
    auto value = PercentDecode(part.substr(std::min(equals + 1, part.size())), true);
    if (name && value) parameters_.emplace_back(*std::move(name), *std::move(value));
  }
}

const std::string* Query::Find(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string_view Query::Get(std::string_view name) const {
  const std::string* value = Find(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

std::vector<std::string_view> Query::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : parameters_) {
    if (key == name) values.emplace_back(value);
  }
  return values;
}

bool Query::Flag(std::string_view name) const {
  const std::string* value = Find(name);
  if (value == nullptr) return false;
  std::string lower = *value;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower != "0" && lower != "false";
}

}  // namespace berth::server
