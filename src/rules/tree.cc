#include "rules/tree.h"

namespace berth::rules {

std::string_view Text(const codec::Value* value) {
  const std::string* text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::vector<std::string> Texts(const codec::Array& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const codec::Value& item : list) texts.emplace_back(Text(&item));
  return texts;
}

std::set<std::string_view> TextSet(const codec::Array& list) {
  std::set<std::string_view> texts;
  for (const codec::Value& item : list) texts.insert(Text(&item));
  return texts;
}

void CopyAt(codec::Value& to, const codec::Value& from,
            std::initializer_list<std::string_view> path) {
  const codec::Value* value = &from;
  for (const std::string_view key : path) {
    if (value != nullptr) value = value->Find(key);
  }
  if (value == nullptr) {
    EraseAt(to, path);
  } else {
    SetAt(to, path, *value);
  }
}

bool Same(const codec::Value* a, const codec::Value* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace berth::rules
