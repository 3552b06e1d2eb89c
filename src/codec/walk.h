// A walk over a Value in document order, which is all that a writer needs. It keeps its own stack,
// so that a tree of any depth can be written. For use inside codec.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codec/value.h"

namespace berth::codec {

/// Calls `visitor`, which has
///   void Scalar(const Value& value);            for everything that is not an array or object
///   void Begin(const Value& container);         before the contents of an array or object
///   void End(const Value& container);           after them
///   void BeforeItem(size_t index);              before each value in an array
///   void Key(const std::string& key, size_t index);  before each value in an object
template <typename Visitor>
void Walk(const Value& root, Visitor& visitor) {
  struct Level {
    const Value* container;
    size_t next;

    // Announces the next value of the container and returns it. Returns null at the end.
    const Value* Step(Visitor& to) {
      if (const Array* array = container->AsArray()) {
        if (next == array->size()) return nullptr;
        to.BeforeItem(next);
        return &(*array)[next++];
      }
      const Object& object = *container->AsObject();
      if (next == object.size()) return nullptr;
      const Member& member = object.begin()[static_cast<std::ptrdiff_t>(next)];
      to.Key(member.key, next++);
      return &member.value;
    }
  };

  std::vector<Level> levels;
  const Value* value = &root;
  while (true) {
    if (value == nullptr) {
      visitor.End(*levels.back().container);
      levels.pop_back();
    } else if (value->AsArray() != nullptr || value->AsObject() != nullptr) {
      visitor.Begin(*value);
      levels.push_back({value, 0});
    } else {
      visitor.Scalar(*value);
    }
    if (levels.empty()) return;
    value = levels.back().Step(visitor);
  }
}

}  // namespace berth::codec
