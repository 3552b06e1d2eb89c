// The files that a page is made of, which are part of the program. They are compressed when the
// program is built.
//
// A browser asks each time whether its copy is still right, so a page is never older than the
// server that it talks to. Immutable, so any thread may ask.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace berth::ui {

/// One file, in three forms.
struct Asset {
  std::string_view path;  ///< "/", "/app.js".
  std::string_view content_type;
  std::string_view hash;  ///< Of the content, for its entity tags.
  std::string_view identity;
  std::string_view gzip;
  std::string_view brotli;
};

class Assets {
 public:
  explicit Assets(std::span<const Asset> assets);

  bool Has(std::string_view path) const { return Find(path) != nullptr; }
  /// Answers a GET or HEAD of a path that it has.
  http::Response Answer(const http::Request& request) const;

 private:
  struct File {
    std::string path;
    std::string content_type;
    std::string hash;
    std::shared_ptr<const std::string> identity;
    std::shared_ptr<const std::string> gzip;
    std::shared_ptr<const std::string> brotli;
  };

  const File* Find(std::string_view path) const;

  std::vector<File> files_;
};

}  // namespace berth::ui
