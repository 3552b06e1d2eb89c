// What this server serves, in the words clients discover it by: /api, /apis and what is below, in
// the old form and the aggregated one. Made once from the kinds; immutable afterwards, any thread.
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
  std::string etag;  // Quoted; empty: none.
};
Document MakeDocument(std::string body, std::string content_type, bool with_etag);

class Discovery {
 public:
  explicit Discovery(std::span<const api::Kind* const> kinds);

  /// By path ("/api", "/apis/networking.k8s.io/v1", without a slash at the end) and what an Accept
  /// header asks for: the aggregated form where there is one, protobuf or else JSON. Null: there is
  /// no such document.
  const Document* Find(std::string_view path, std::string_view accept) const;

  bool HasGroup(std::string_view group) const;

 private:
  void Add(const std::string& path, const codec::Value& document);
  void AddGroup(const std::string& group, const std::vector<const api::Kind*>& kinds);

  std::vector<std::string> groups_;
  std::map<std::string, Document, std::less<>> documents_;
  std::map<std::string, Document, std::less<>> protobuf_;  // The same.
  std::map<std::string, Document, std::less<>> aggregated_;
};

/// The answer to GET /: every path that has something to read.
std::string PathsDocument(std::span<const std::string> paths);

}  // namespace berth::server
