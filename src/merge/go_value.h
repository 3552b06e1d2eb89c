// Documents as Go prints them, for messages that clients compare. For use inside merge. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/value.h"

namespace berth::merge {

/// No error shows more of a document than this, so that a large patch is not answered with several
/// times its size.
inline constexpr size_t kMostShown = size_t{8} * 1024;

/// As %v prints it: `map[a:1 b:[x y]]`; cut, with dots behind it, when it is longer than
/// kMostShown.
std::string GoText(const codec::Value& value);
std::string GoText(const codec::Object& object);
std::string GoText(const codec::Array& array);

/// As %s does: a value that is no text shows its type.
std::string GoTextVerb(const codec::Value& value);

/// How Go calls the type a JSON reader gives a value: "map[string]interface {}"; and in short:
/// "map".
std::string_view GoTypeName(const codec::Value& value);
std::string_view GoKindName(const codec::Value& value);

/// Cut as GoText is.
std::string Shown(std::string text);

}  // namespace berth::merge
