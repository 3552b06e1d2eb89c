// JSON Patch, RFC 6902, as Kubernetes implements it. It differs from the RFC:
//
//   - `replace` of a missing member adds it; `copy` of a missing member copies null;
//   - `test` for null succeeds for a missing member;
//   - a negative index counts from the end; an index may have a sign and leading zeros;
//   - the part of a path before its first slash is ignored;
//   - `add`, `replace` and `test` without a value use null.
//
// Limits bound the number of operations, the size of what `copy` adds, the depth of the result, and
// the work of all operations together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"

namespace berth::merge {

inline constexpr size_t kMostOperations = 10'000;
/// The size of JSON that all `copy` operations of a patch may add together.
inline constexpr size_t kMostCopied = size_t{3} * 1024 * 1024;
/// The levels of a patched document.
inline constexpr size_t kDeepestResult = 256;
/// The members, items and nodes that all operations together may move or visit. A patch that
/// removes ten thousand items from the front of a long list is stopped by this.
inline constexpr size_t kMostSteps = 10'000'000;

/// A JSON pointer: the path from the root of a document. An empty one is the root itself.
using Pointer = std::vector<std::string>;

struct Operation {
  enum class Kind : uint8_t { kUnknown, kAdd, kRemove, kReplace, kMove, kCopy, kTest };

  Kind kind = Kind::kUnknown;
  std::optional<Pointer> path = {};  // Unset if there was no valid path.
  std::optional<Pointer> from = {};
  codec::Value value = {};
};

struct JsonPatch {
  std::vector<Operation> operations;
  /// Unknown members of operations, as strict decoding reports them.
  std::vector<std::string> problems = {};
};

/// Reads a patch from a parsed document. Returns kBadRequest if it is not a list of operations, and
/// kRequestEntityTooLarge if there are too many. Operations without a meaning are only detected
/// when they are applied. So are, with kIgnore, members of the wrong type.
base::Result<JsonPatch> ReadJsonPatch(
    codec::Value document, codec::FieldValidation validation = codec::FieldValidation::kWarn);

/// Returns kInvalid if an operation does not apply, because a path is missing or a test fails. The
/// operations before it stay applied to `document`.
base::Result<void> ApplyJsonPatch(codec::Value& document, const JsonPatch& patch);

}  // namespace berth::merge
