#include "ui/assets.h"

#include <fmt/format.h>

#include "http/gzip.h"
#include "ui/answers.h"

namespace berth::ui {
namespace {

constexpr int kNotModified = 304;

std::shared_ptr<const std::string> Shared(std::string_view bytes) {
  return std::make_shared<const std::string>(bytes);
}

}  // namespace

Assets::Assets(std::span<const Asset> assets) {
  for (const Asset& asset : assets) {
    files_.push_back({.path = std::string(asset.path),
                      .content_type = std::string(asset.content_type),
                      .hash = std::string(asset.hash),
                      .identity = Shared(asset.identity),
                      .gzip = Shared(asset.gzip),
                      .brotli = Shared(asset.brotli)});
  }
}

const Assets::File* Assets::Find(std::string_view path) const {
  for (const File& file : files_) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

http::Response Assets::Answer(const http::Request& request) const {
  const File* file = Find(request.path);
  if (file == nullptr) return ErrorAnswer(404, "there is no such file");
  const std::string_view accepts = request.headers.Find("accept-encoding").value_or("");
  std::string_view encoding;
  std::shared_ptr<const std::string> bytes = file->identity;
  if (NamesEncoding(accepts, "br") && !file->brotli->empty()) {
    encoding = "br";
    bytes = file->brotli;
  } else if (http::AcceptsGzip(accepts) && !file->gzip->empty()) {
    encoding = "gzip";
    bytes = file->gzip;
  }
  // Forms of other bytes need tags of their own.
  const std::string tag = encoding.empty() ? fmt::format("\"{}\"", file->hash)
                                           : fmt::format("\"{}-{}\"", file->hash, encoding);
  http::Response response{
      .headers = {{"cache-control", "no-cache"}, {"etag", tag}, {"vary", "Accept-Encoding"}}};
  const auto known = request.headers.Find("if-none-match");
  if (known && NamesTag(*known, tag)) {
    response.code = kNotModified;
    return response;
  }
  response.headers.Add("content-type", file->content_type);
  if (!encoding.empty()) response.headers.Add("content-encoding", encoding);
  response.body.Add(bytes);
  return response;
}

}  // namespace berth::ui
