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

}  // namespace berth::codec
