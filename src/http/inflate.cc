#include "http/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <new>

namespace berth::http {
namespace {

constexpr size_t kInflatedPart = size_t{64} << 10;
constexpr int kGzipOnly = 16 + MAX_WBITS;

}  // namespace

struct Inflater::Stream {
  z_stream z{};
  bool between = true;  // Before the first member, or after the end of one.
  std::array<char, kInflatedPart> out;
};

Inflater::Inflater() : stream_(std::make_unique<Stream>()) {
  if (inflateInit2(&stream_->z, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() { inflateEnd(&stream_->z); }

bool Inflater::AtEnd() const { return stream_->between; }

base::Result<bool> Inflater::Feed(std::string_view bytes, const Sink& sink) {
  z_stream& z = stream_->z;
  bool full = false;  // Inflated bytes may then wait inside zlib.
  while (!bytes.empty() || full) {
    const size_t size = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    // zlib does not change its input, but its type does not say so.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = static_cast<uInt>(size);
    z.next_out = reinterpret_cast<Bytef*>(stream_->out.data());
    z.avail_out = static_cast<uInt>(stream_->out.size());
    if (size > 0) stream_->between = false;
    const int result = inflate(&z, Z_NO_FLUSH);
    const bool no_progress = result == Z_BUF_ERROR && size == 0;
    if (result != Z_OK && result != Z_STREAM_END && !no_progress) {
      return base::Fail(base::Reason::kInternalError, "the body of an answer is not valid gzip");
    }
    bytes.remove_prefix(size - z.avail_in);
    full = z.avail_out == 0;
    const size_t produced = stream_->out.size() - z.avail_out;
    if (result == Z_STREAM_END) {
      stream_->between = true;
      inflateReset(&z);  // Another member may follow.
    }
    if (produced == 0) continue;
    auto taken = sink(std::string_view(stream_->out.data(), produced));
    if (!taken || !*taken) return taken;
  }
  return true;
}

}  // namespace berth::http
