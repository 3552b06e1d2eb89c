// A second, plain implementation of patches, to compare with: no indices, no moves, and every step
// makes a new tree. Nothing here is fast. Functions return nullopt on an error.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "codec/value.h"

namespace model {

using berth::api::Field;
using berth::api::Message;
using berth::api::Shape;
using berth::codec::Array;
using berth::codec::Kind;
using berth::codec::Object;
using berth::codec::Value;

using Map = std::map<std::string, Value>;

inline Map MapOf(const Value& value) {
  Map map;
  for (const auto& [key, member] : *value.AsObject()) map[key] = member;
  return map;
}

inline Value ValueOf(const Map& map) {
  Object object;
  for (const auto& [key, member] : map) object.Set(key, member);
  return object;
}

inline bool IsMap(const Value& value) { return value.AsObject() != nullptr; }
inline bool IsList(const Value& value) { return value.AsArray() != nullptr; }

// Follows RFC 7386, section 2, literally.
inline Value MergePatch(const Value& target, const Value& patch) {
  if (!IsMap(patch)) return patch;
  Map result = IsMap(target) ? MapOf(target) : Map();
  for (const auto& [name, value] : MapOf(patch)) {
    if (value.IsNull()) {
      result.erase(name);
    } else {
      result[name] = MergePatch(result[name], value);
    }
  }
  return ValueOf(result);
}

// Returns the tokens of a pointer (RFC 6901). Text before the first slash is ignored.
inline std::optional<std::vector<std::string>> Tokens(const std::string& pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty()) return tokens;
  for (const char c : pointer) {
    if (c == '/') {
      tokens.emplace_back();
    } else if (!tokens.empty()) {
      tokens.back() += c;
    }
  }
  if (tokens.empty()) return std::nullopt;
  for (std::string& token : tokens) {
    for (const auto& [escape, meant] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
      for (size_t at = 0; (at = token.find(escape, at)) != std::string::npos; ++at) {
        token.replace(at, 2, meant);
      }
    }
  }
  return tokens;
}

// Returns an index below `places`. A negative token counts from the end.
inline std::optional<size_t> Place(const std::string& token, size_t places) {
  const bool sign = token.starts_with('-') || token.starts_with('+');
  const std::string digits = token.substr(sign ? 1 : 0);
  if (digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  int64_t index = std::stoll(digits);
  if (token.starts_with('-')) index = index == 0 ? 0 : static_cast<int64_t>(places) - index;
  if (index < 0 || index >= static_cast<int64_t>(places)) return std::nullopt;
  return static_cast<size_t>(index);
}

enum class Edit : uint8_t { kAdd, kReplace, kRemove };

inline std::optional<Value> Edited(const Value& document, std::vector<std::string> tokens,
                                   Edit edit, const Value& value) {
  if (tokens.empty()) return std::nullopt;
  const std::string token = tokens.front();
  tokens.erase(tokens.begin());
  if (IsMap(document)) {
    Map map = MapOf(document);
    const bool there = map.contains(token);
    if (!tokens.empty()) {
      if (!there) return std::nullopt;
      const auto inner = Edited(map[token], tokens, edit, value);
      if (!inner) return std::nullopt;
      map[token] = *inner;
    } else if (edit == Edit::kRemove) {
      if (!there) return std::nullopt;
      map.erase(token);
    } else {
      map[token] = value;
    }
    return ValueOf(map);
  }
  if (!IsList(document)) return std::nullopt;
  Array list = *document.AsArray();
  if (tokens.empty() && edit == Edit::kAdd) {
    const auto place = token == "-" ? list.size() : Place(token, list.size() + 1);
    if (!place) return std::nullopt;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(*place), value);
    return list;
  }
  const auto place = Place(token, list.size());
  if (!place) return std::nullopt;
  if (!tokens.empty()) {
    const auto inner = Edited(list[*place], tokens, edit, value);
    if (!inner) return std::nullopt;
    list[*place] = *inner;
  } else if (edit == Edit::kRemove) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(*place));
  } else {
    list[*place] = value;
  }
  return list;
}

// Returns the value that a pointer names, or null for a member that does not exist.
inline std::optional<Value> Got(const Value& document, std::vector<std::string> tokens) {
  if (tokens.empty()) return document;
  const std::string token = tokens.front();
  tokens.erase(tokens.begin());
  if (IsMap(document)) {
    const Map map = MapOf(document);
    if (map.contains(token)) return Got(map.at(token), tokens);
    return tokens.empty() ? std::optional<Value>(nullptr) : std::nullopt;
  }
  if (!IsList(document)) return std::nullopt;
  const auto place = Place(token, document.AsArray()->size());
  if (!place) return std::nullopt;
  return Got((*document.AsArray())[*place], tokens);
}

inline std::optional<Value> Operated(const Value& document, const Value& operation) {
  Map members = MapOf(operation);
  const auto text = [&](const char* name) -> std::optional<std::vector<std::string>> {
    const std::string* pointer = members[name].AsString();
    return pointer == nullptr ? std::nullopt : Tokens(*pointer);
  };
  const std::string op = members["op"].AsString() == nullptr ? "" : *members["op"].AsString();
  const auto path = text("path");
  const Value value = members["value"];
  if (!path) return std::nullopt;
  if (op == "add") return Edited(document, *path, Edit::kAdd, value);
  if (op == "remove") return Edited(document, *path, Edit::kRemove, value);
  if (op == "replace" && path->empty()) {
    return IsMap(value) || IsList(value) ? std::optional(value) : std::nullopt;
  }
  if (op == "replace") return Edited(document, *path, Edit::kReplace, value);
  if (op == "test") {
    const auto found = Got(document, *path);
    return found && *found == value ? std::optional(document) : std::nullopt;
  }
  const auto from = text("from");
  if (!from || from->empty()) return std::nullopt;
  const auto source = Got(document, *from);
  if (!source) return std::nullopt;
  if (op == "copy") return Edited(document, *path, Edit::kAdd, *source);
  if (op != "move") return std::nullopt;
  const auto without = Edited(document, *from, Edit::kRemove, nullptr);
  return without ? Edited(*without, *path, Edit::kAdd, *source) : std::nullopt;
}

inline std::optional<Value> JsonPatch(Value document, const Array& operations) {
  for (const Value& operation : operations) {
    const auto next = Operated(document, operation);
    if (!next) return std::nullopt;
    document = *next;
  }
  return document;
}

}  // namespace model
