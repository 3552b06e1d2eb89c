// Finds the objects of a JSON list without parsing it as a whole, so that a list of hundreds of
// megabytes can be read item by item, from a pipe too. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::codec {

/// Finds items in text that comes in parts.
///
///   JsonItemScanner scanner([](std::string_view item) { ...; return true; });
///   while (there is more) {
///     append the next part to the buffer;
///     remove the first *scanner.Scan(buffer) bytes from the buffer;
///   }
///   scanner.Finish();
///
/// An item is an object or an array in the array `items` at the top of an object, or in an array at
/// the top. An object without `items` is one item itself. Several objects may follow each other, as
/// a stream. Only brackets and quotes are looked at; the items themselves are not checked.
class JsonItemScanner {
 public:
  /// Returns false if no further item is wanted.
  using Each = std::function<bool(std::string_view item)>;

  explicit JsonItemScanner(Each each) : each_(std::move(each)) {}

  /// Looks at a text that begins with what the call before has left, and goes on with new text.
  /// Returns how many bytes at its beginning are not needed any more. Fails with kBadRequest if a
  /// document does not begin with a bracket.
  base::Result<size_t> Scan(std::string_view text);

  /// Fails with kBadRequest if the text has ended in the middle of a document.
  base::Result<void> Finish() const;

  /// Return `apiVersion` and `kind` of the object that has the items, as far as they were seen. So
  /// they are certain only after the document. Empty if the document is an array.
  const std::string& list_version() const { return list_version_; }
  const std::string& list_kind() const { return list_kind_; }

  /// Returns whether `each` wants no further item.
  bool Stopped() const { return stopped_; }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  base::Result<void> StartDocument(std::string_view text);
  bool SkipString(std::string_view text);
  void NoteString(std::string_view text);
  void Open(char bracket);
  void Close(std::string_view text);
  tl::unexpected<base::Error> Broken(size_t at) const;

  Each each_;
  bool stopped_ = false;
  size_t passed_ = 0;  // Bytes before those of the current text.
  size_t at_ = 0;      // The next byte to look at.
  size_t depth_ = 0;   // Of brackets that are open.
  /// The depth at which items begin; 0 if this object has not shown `items` yet, and kNone after
  /// the items of a document.
  size_t item_depth_ = 0;
  size_t item_ = kNone;     // Where the item begins that is open.
  size_t string_ = kNone;   // Where the string begins that is open.
  bool items_key_ = false;  // The last string of the outermost object was "items".
  std::string JsonItemScanner::* wanted_ =
      nullptr;  // Where the next string of the outermost object goes.
  std::string list_version_;
  std::string list_kind_;
};

/// Calls `each` with the text of every item of a whole text, until it returns false. Fails with
/// kBadRequest if brackets or quotes do not match.
base::Result<void> ForEachJsonItem(std::string_view text, const JsonItemScanner::Each& each);

}  // namespace berth::codec
