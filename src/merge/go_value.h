// Writes documents as Go prints them, for messages that clients compare. For
// use inside merge. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/value.h"

namespace berth::merge {

/// The most of a document that an error shows, so that a large patch does not get an
/// answer several times its size.
inline constexpr size_t kMostShown = size_t{8} * 1024;

/// Returns a value as %v prints it: `map[a:1 b:[x y]]`. Text longer than
/// kMostShown is cut and ends in dots.
std::string GoText(const codec::Value& value);
std::string GoText(const codec::Object& object);
std::string GoText(const codec::Array& array);

/// Returns a value as %s prints it: one that is not a text shows its type.
std::string GoTextVerb(const codec::Value& value);

/// Returns Go's name for the type that its JSON decoder gives a value: "map[string]interface {}".
/// GoKindName returns the short form: "map".
std::string_view GoTypeName(const codec::Value& value);
std::string_view GoKindName(const codec::Value& value);

/// Cuts text as GoText does.
std::string Shown(std::string text);

}  // namespace berth::merge
