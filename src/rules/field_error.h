// What is wrong with an object, field by field, in the words and the order Kubernetes uses: each
// error becomes one cause of a Status, all together the sentence the user reads.
//
// Regular types; nothing fails. Threads: like a standard container.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/value.h"

namespace berth::rules {

/// The place of a field as messages write it: `spec.ports[0].port`, `metadata.annotations[a/b]`.
class Path {
 public:
  explicit Path(std::string_view root) : text_(root) {}

  Path Child(std::string_view name) const;
  Path Index(size_t index) const;
  Path Key(std::string_view key) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

enum class FieldErrorType : uint8_t {
  kNotFound,
  kRequired,
  kDuplicate,
  kInvalid,
  kNotSupported,
  kForbidden,
  kTooLong,
  kTooMany,
  kTypeInvalid,
  kInternal,
};

/// `Status.details.causes[].reason`: "FieldValueInvalid" and so on.
std::string_view CauseReason(FieldErrorType type);

/// A value as Go prints it in such a message: text in quotes, numbers and booleans bare, all else
/// as JSON.
std::string PrintValue(const codec::Value& value);

struct FieldError {
  FieldErrorType type = FieldErrorType::kInvalid;
  std::string field;
  codec::Value value = {};  ///< Printed only by the types that show one.
  std::string detail = {};

  /// `Invalid value: 0: must be between 1 and 65535, inclusive`: what a cause says.
  std::string Body() const;

  /// The body after the field and a colon.
  std::string ToString() const;

  bool operator==(const FieldError&) const = default;
};

/// More are not kept of one object: a hostile one could otherwise make an answer many times its
/// size.
inline constexpr size_t kMostFieldErrors = 1000;

class FieldErrors {
 public:
  void NotFound(const Path& path, codec::Value value);
  void Required(const Path& path, std::string_view detail = {});
  void Duplicate(const Path& path, codec::Value value);
  void Invalid(const Path& path, codec::Value value, std::string_view detail);
  /// The supported values are printed in the order given.
  void NotSupported(const Path& path, codec::Value value,
                    std::initializer_list<std::string_view> supported);
  void Forbidden(const Path& path, std::string_view detail);
  void TooLong(const Path& path, size_t bytes);
  void TooMany(const Path& path, size_t actual, size_t most);
  void TypeInvalid(const Path& path, codec::Value value, std::string_view detail);
  void Internal(const Path& path, std::string_view detail);

  /// One Invalid of the same value for each problem.
  void InvalidEach(const Path& path, std::string_view value,
                   const std::vector<std::string>& problems);

  void Add(FieldError error);
  void Append(FieldErrors other);

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  std::vector<FieldError>::const_iterator begin() const { return errors_.begin(); }
  std::vector<FieldError>::const_iterator end() const { return errors_.end(); }

  /// All errors in one line: the one, or `[a, b]`; equal ones are said once.
  std::string Message() const;

  /// Every error, equal ones included.
  std::vector<base::Cause> Causes() const;

  /// The 422 for an object: `Service "web" is invalid: ...`. `kind` is the Kind, with ".group" if
  /// it is not in the core group. Only for a list that is not empty.
  base::Error ToError(std::string_view kind, std::string_view name) const;

  bool operator==(const FieldErrors&) const = default;

 private:
  std::vector<FieldError> errors_;
};

}  // namespace berth::rules
