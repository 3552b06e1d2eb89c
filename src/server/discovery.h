// The discovery documents, by which clients learn what this server serves: /api, /apis and the
// paths below them, in the old and in the aggregated format. Made once from the kinds; immutable
// afterwards, so any thread may read them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "codec/value.h"

namespace berth::server {

/// A document that never changes while the server runs.
struct Document {
  std::shared_ptr<const std::string> body;
  std::string content_type;
  std::string etag;  // Quoted. Empty if the document has no ETag.
};
Document MakeDocument(std::string body, std::string content_type, bool with_etag);

class Discovery {
 public:
  explicit Discovery(std::span<const api::Kind* const> kinds);

  /// Returns the document at a path ("/api", "/apis/networking.k8s.io/v1", without a slash at the
  /// end) in the format that the Accept header asks for: aggregated if the path has such a
  /// document, else protobuf or JSON. Returns null if there is no such document.
  const Document* Find(std::string_view path, std::string_view accept) const;

 private:
  void Add(const std::string& path, const codec::Value& document);
  void AddGroup(const std::string& group, const std::vector<const api::Kind*>& kinds);

  std::map<std::string, Document, std::less<>> documents_;
  std::map<std::string, Document, std::less<>> protobuf_;  // The same documents.
  std::map<std::string, Document, std::less<>> aggregated_;
};

/// Returns the answer to GET /, the list of all paths that can be read.
std::string PathsDocument(std::span<const std::string> paths);

}  // namespace berth::server
