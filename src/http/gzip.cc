#include "http/gzip.h"

#include <libdeflate.h>

#include <cctype>
#include <memory>
#include <new>

namespace berth::http {
namespace {

constexpr int kLevel = 1;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Returns whether a parameter is "q=0", "q=0.0" and so on, which means not acceptable.
bool IsZeroQuality(std::string_view parameter) {
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return false;
  return parameter.size() > 2 && parameter.find_first_not_of("0.", 2) == std::string_view::npos;
}

bool SameLetters(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != lower[i]) return false;
  }
  return true;
}

}  // namespace

std::string Gzip(std::string_view bytes) {
  // A compressor has a few hundred KiB of tables, so each thread that compresses keeps one.
  thread_local const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(
      libdeflate_alloc_compressor(kLevel));
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  out.shrink_to_fit();  // The buffer was sized for the worst case.
  return out;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  bool any = false;
  while (!accept_encoding.empty()) {
    const size_t comma = accept_encoding.find(',');
    std::string_view entry = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(comma == std::string_view::npos ? accept_encoding.size()
                                                                  : comma + 1);
    const size_t semicolon = entry.find(';');
    const std::string_view coding = Trim(entry.substr(0, semicolon));
    const bool wanted =
        semicolon == std::string_view::npos || !IsZeroQuality(Trim(entry.substr(semicolon + 1)));
    if (SameLetters(coding, "gzip") || SameLetters(coding, "x-gzip")) return wanted;
    if (coding == "*") any = wanted;
  }
  return any;
}

}  // namespace berth::http
