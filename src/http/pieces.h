// Output bytes as a list of pieces: owned strings, and slices of shared strings. A LIST of ten
// thousand objects is ten thousand slices and no giant copy. An event that is encoded once is the
// same piece in a thousand streams. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace berth::http {

class Pieces {
 public:
  Pieces() = default;
  // Implicit, so that a body can be written as a string.
  // NOLINTBEGIN(google-explicit-constructor)
  Pieces(std::string bytes) { Add(std::move(bytes)); }
  Pieces(const char* bytes) { Add(std::string(bytes)); }
  // NOLINTEND(google-explicit-constructor)

  void Add(std::string bytes);
  void Add(std::shared_ptr<const std::string> bytes);
  /// Adds `length` bytes from `offset` on. Both are limited to the size of `bytes`.
  void Add(std::shared_ptr<const std::string> bytes, size_t offset, size_t length);

  /// Returns how many bytes are left.
  size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  /// Moves up to `limit` bytes from the front to the end of `out` and releases every piece that is
  /// used up. Returns how many bytes it moved.
  size_t MoveTo(std::string& out, size_t limit);

  /// Returns all bytes that are left as one string. For tests and for compression.
  std::string Flatten() const;

  void Clear();

 private:
  struct Shared {
    std::shared_ptr<const std::string> bytes;
    size_t offset = 0;
    size_t length = 0;
  };
  using Piece = std::variant<std::string, Shared>;

  static std::string_view View(const Piece& piece);

  std::vector<Piece> pieces_;
  size_t first_ = 0;   // Pieces before it are used up.
  size_t offset_ = 0;  // Bytes of the first piece that are used up.
  size_t bytes_ = 0;
};

}  // namespace berth::http
