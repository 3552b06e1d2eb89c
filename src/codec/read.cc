#include "codec/read.h"

namespace berth::codec {

Value& SetAt(Value& root, std::initializer_list<std::string_view> path, Value value) {
  Value* at = &root;
  for (const std::string_view key : path) {
    Value* next = at->Find(key);
    at = next != nullptr ? next : &at->Set(std::string(key), Object());
  }
  *at = std::move(value);
  return *at;
}

bool EraseAt(Value& root, std::initializer_list<std::string_view> path) {
  if (path.size() == 0) return false;
  Value* at = &root;
  for (const std::string_view* key = path.begin(); key + 1 != path.end(); ++key) {
    at = at->Find(*key);
    if (at == nullptr) return false;
  }
  Object* object = at->AsObject();
  return object != nullptr && object->Erase(*(path.end() - 1));
}

void CopyAt(Value& to, const Value& from, std::initializer_list<std::string_view> path) {
  const Value* value = &from;
  for (const std::string_view key : path) {
    if (value != nullptr) value = value->Find(key);
  }
  if (value == nullptr) {
    EraseAt(to, path);
  } else {
    SetAt(to, path, *value);
  }
}

std::string_view Text(const Value* value) {
  const std::string* text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::vector<std::string> Texts(const Array& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const Value& item : list) texts.emplace_back(Text(&item));
  return texts;
}

std::set<std::string_view> TextSet(const Array& list) {
  std::set<std::string_view> texts;
  for (const Value& item : list) texts.insert(Text(&item));
  return texts;
}

bool Same(const Value* a, const Value* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace berth::codec
