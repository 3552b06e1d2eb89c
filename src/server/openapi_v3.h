// OpenAPI v3: one document for each group and version, and the index that names them with their
// hashes, so that clients can keep a document for as long as the index names the same one. They
// hold what kubectl looks into (which parameters a PATCH takes, which kinds of patch, how lists are
// merged, what `explain` prints) and everything else that is served, but no more, so that they are
// small. Made once from the kinds; immutable afterwards, any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "server/discovery.h"

namespace berth::server {

class OpenApiV3 {
 public:
  explicit OpenApiV3(std::span<const api::Kind* const> kinds);

  /// The answer to /openapi/v3.
  const Document& Index() const { return index_; }

  /// What is below /openapi/v3/, by "api/v1" or "apis/networking.k8s.io/v1". Null: there is none.
  const Document* Find(std::string_view path) const;

  /// What the index says after "?hash="; empty if there is no such document. Equal documents have
  /// equal hashes, in every process.
  std::string_view Hash(std::string_view path) const;

 private:
  Document index_;
  std::map<std::string, Document, std::less<>> documents_;
};

}  // namespace berth::server
