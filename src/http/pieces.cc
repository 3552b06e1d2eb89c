#include "http/pieces.h"

#include <algorithm>
#include <utility>

namespace berth::http {

std::string_view Pieces::View(const Piece& piece) {
  if (const auto* owned = std::get_if<std::string>(&piece)) return *owned;
  const auto& shared = std::get<Shared>(piece);
  return std::string_view(*shared.bytes).substr(shared.offset, shared.length);
}

void Pieces::Add(std::string bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  pieces_.emplace_back(std::move(bytes));
}

void Pieces::Add(std::shared_ptr<const std::string> bytes) {
  const size_t length = bytes == nullptr ? 0 : bytes->size();
  Add(std::move(bytes), 0, length);
}

void Pieces::Add(std::shared_ptr<const std::string> bytes, size_t offset, size_t length) {
  if (bytes == nullptr || offset >= bytes->size()) return;
  length = std::min(length, bytes->size() - offset);
  if (length == 0) return;
  bytes_ += length;
  pieces_.emplace_back(Shared{.bytes = std::move(bytes), .offset = offset, .length = length});
}

size_t Pieces::MoveTo(std::string& out, size_t limit) {
  size_t moved = 0;
  while (moved < limit && first_ < pieces_.size()) {
    Piece& piece = pieces_[first_];
    const std::string_view view = View(piece).substr(offset_);
    const size_t take = std::min(view.size(), limit - moved);
    out += view.substr(0, take);
    moved += take;
    offset_ += take;
    if (take < view.size()) break;
    piece.emplace<std::string>();
    ++first_;
    offset_ = 0;
  }
  bytes_ -= moved;
  if (bytes_ == 0) Clear();
  return moved;
}

std::string Pieces::Flatten() const {
  std::string all;
  all.reserve(bytes_);
  for (size_t i = first_; i < pieces_.size(); ++i) {
    all += View(pieces_[i]).substr(i == first_ ? offset_ : 0);
  }
  return all;
}

void Pieces::Clear() {
  pieces_.clear();
  first_ = 0;
  offset_ = 0;
  bytes_ = 0;
}

}  // namespace berth::http
