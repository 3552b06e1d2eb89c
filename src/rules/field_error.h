// Errors of an object, field by field, in the words and the order that Kubernetes uses. Each error
// becomes one cause of a Status. All of them together make the sentence that the user reads.
//
// These are regular types, and nothing fails. They are as thread-safe as a standard container.
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

/// The path of a field as messages write it: `spec.ports[0].port`, `metadata.annotations[a/b]`.
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
  kInternal,
};

/// Returns the text for `Status.details.causes[].reason`: "FieldValueInvalid" and so on.
std::string_view CauseReason(FieldErrorType type);

/// Formats a value as Go prints it in such a message: text in quotes, numbers and booleans bare,
/// everything else as JSON.
std::string PrintValue(const codec::Value& value);

struct FieldError {
  FieldErrorType type = FieldErrorType::kInvalid;
  std::string field;
  codec::Value value = {};  ///< Printed only by the types that show a value.
  std::string detail = {};

  /// Returns the text of a cause: `Invalid value: 0: must be between 1 and 65535, inclusive`.
  std::string Body() const;

  /// Returns the field, a colon and the body.
  std::string ToString() const;

  bool operator==(const FieldError&) const = default;
};

/// The limit of errors kept for one object. Without it a hostile object could cause a response many
/// times its size.
inline constexpr size_t kMostFieldErrors = 1000;

class FieldErrors {
 public:
  void NotFound(const Path& path, codec::Value value);
  void Required(const Path& path, std::string_view detail = {});
  void Duplicate(const Path& path, codec::Value value);
  void Invalid(const Path& path, codec::Value value, std::string_view detail);
  /// Prints the supported values in the given order.
  void NotSupported(const Path& path, codec::Value value,
                    std::initializer_list<std::string_view> supported);
  void Forbidden(const Path& path, std::string_view detail);
  void TooLong(const Path& path, size_t bytes);
  void TooMany(const Path& path, size_t actual, size_t most);
  void Internal(const Path& path, std::string_view detail);

  /// Adds one Invalid with the same value for each problem.
  void InvalidEach(const Path& path, std::string_view value,
                   const std::vector<std::string>& problems);

  void Add(FieldError error);
  void Append(FieldErrors other);

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  std::vector<FieldError>::const_iterator begin() const { return errors_.begin(); }
  std::vector<FieldError>::const_iterator end() const { return errors_.end(); }

  /// Returns all errors in one line: the only error, or `[a, b]`. Equal errors appear once.
  std::string Message() const;

  /// Returns every error, including equal ones.
  std::vector<base::Cause> Causes() const;

  /// Returns the 422 error for an object: `Service "web" is invalid: ...`. `kind` is the Kind, with
  /// ".group" if it is not in the core group. The list must not be empty.
  base::Error ToError(std::string_view kind, std::string_view name) const;

  bool operator==(const FieldErrors&) const = default;

 private:
  std::vector<FieldError> errors_;
};

}  // namespace berth::rules
