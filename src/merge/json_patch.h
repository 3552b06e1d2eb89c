// JSON Patch, RFC 6902, as Kubernetes takes it. Where that differs from the RFC:
//
//   - `replace` of a member that is not there adds it; `copy` of one that is not there copies null;
//   - `test` for null holds for a member that is not there;
//   - a negative index counts from the end; an index may have a sign and leading zeros;
//   - what a path has before its first slash is not looked at;
//   - `add`, `replace` and `test` without a value take it for null.
//
// Bounded: the number of operations, what `copy` may add, how deep the result may be, and how much
// work all operations may take together.
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
/// In bytes of JSON, all `copy` operations of a patch together.
inline constexpr size_t kMostCopied = size_t{3} * 1024 * 1024;
/// Levels of a patched document.
inline constexpr size_t kDeepestResult = 256;
/// Members, items and nodes that are moved or looked at, all operations together: a patch that
/// takes ten thousand items from the front of a long list ends here.
inline constexpr size_t kMostSteps = 10'000'000;

/// A JSON pointer: the way from the root of a document. No token is the root itself.
using Pointer = std::vector<std::string>;

struct Operation {
  enum class Kind : uint8_t { kUnknown, kAdd, kRemove, kReplace, kMove, kCopy, kTest };

  Kind kind = Kind::kUnknown;
  std::optional<Pointer> path = {};  // Nothing: none was given, or one that leads nowhere.
  std::optional<Pointer> from = {};
  codec::Value value = {};
};

struct JsonPatch {
  std::vector<Operation> operations;
  /// Members that no operation has, as strict decoding reports them.
  std::vector<std::string> problems = {};
};

/// From a parsed document. kBadRequest if it is no list of operations, kRequestEntityTooLarge if
/// there are too many. Operations that make no sense are found when they are applied; so are, with
/// kIgnore, members of the wrong type.
base::Result<JsonPatch> ReadJsonPatch(
    codec::Value document, codec::FieldValidation validation = codec::FieldValidation::kWarn);

/// kInvalid if an operation does not apply: a path that is missing, a test that fails. Then
/// `document` is left half-way.
base::Result<void> ApplyJsonPatch(codec::Value& document, const JsonPatch& patch);

}  // namespace berth::merge
