// What rules do with parts of an object beyond codec/read.h. Pure; threads as codec::Value.
// Internal.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/read.h"
#include "codec/value.h"

namespace berth::rules {

using codec::ArrayAt;
using codec::BoolAt;
using codec::EraseAt;
using codec::FindAt;
using codec::HasAt;
using codec::IntAt;
using codec::ObjectAt;
using codec::SetAt;
using codec::StringAt;

/// The text of a value that may be absent; "" if it is no string.
std::string_view Text(const codec::Value* value);

/// The strings of a list; an element that is none reads as "".
std::vector<std::string> Texts(const codec::Array& list);

/// The same, to look values up in; valid as long as the list.
std::set<std::string_view> TextSet(const codec::Array& list);

/// Makes the field of `to` what it is in `from`, present or absent.
void CopyAt(codec::Value& to, const codec::Value& from,
            std::initializer_list<std::string_view> path);

/// Whether both are there and equal, or neither is.
bool Same(const codec::Value* a, const codec::Value* b);

}  // namespace berth::rules
