// Reads lists that an API server sends, object by object, so that only one object at a time is in
// memory beside the text. The objects are canonical (see decode.h) if their message is known, and
// plain documents if not.
//
// Pure functions, safe from any thread, for any bytes. Errors are kBadRequest and say which item is
// wrong, counted from 0.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// What a list says about itself.
struct ListHead {
  std::string api_version = {};
  std::string kind = {};
  std::string resource_version = {};
  std::string continue_token = {};  ///< Empty on the last page.

  bool operator==(const ListHead&) const = default;
};

/// The largest object in a list. An API server stores objects of 1.5 MiB at most, which can be a
/// few times as large in JSON.
inline constexpr size_t kLargestItem = size_t{16} << 20;

/// Receives the objects of a list in order.
using EachItem = std::function<void(Value object)>;

/// Reads the JSON of a list. Without a message the objects are plain documents. Fails if the text
/// is not an object with `items`. `each` has then seen the objects before the fault.
base::Result<ListHead> ReadJsonList(std::string_view text, const api::Message* message,
                                    const EachItem& each);

/// Reads a list in protobuf with its envelope. Objects keep unknown fields as DecodeProto does.
base::Result<ListHead> ReadProtobufList(std::string_view bytes, const api::Message& message,
                                        const EachItem& each);

}  // namespace berth::codec
