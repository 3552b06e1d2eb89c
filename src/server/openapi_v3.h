// OpenAPI v3: one document for each group and version, and an index with the hash of each document,
// so that clients can cache a document until its hash changes. The documents contain what kubectl
// reads (the parameters and media types of a PATCH, how lists are merged, what `explain` prints)
// and all other operations, but no more, so that they are small. Made once from the kinds;
// immutable afterwards, so any thread may read them.
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

  /// Returns the answer to /openapi/v3.
  const Document& Index() const { return index_; }

  /// Returns the document at a path below /openapi/v3/, such as "api/v1" or
  /// "apis/networking.k8s.io/v1". Returns null if there is no such document.
  const Document* Find(std::string_view path) const;

  /// Returns the document's hash, which the index has after "?hash=". Empty if there is no such
  /// document. Equal documents have equal hashes in every process.
  std::string_view Hash(std::string_view path) const;

 private:
  Document index_;
  std::map<std::string, Document, std::less<>> documents_;
};

}  // namespace berth::server
