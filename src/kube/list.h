// Lists all objects of a kind, page by page. Only one page is in memory at a time. Protobuf is used
// where the server has it, because it is smaller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "api/schema.h"
#include "codec/value.h"
#include "kube/api_client.h"

namespace berth::kube {

/// What to list or watch.
struct ListTarget {
  std::string path;  ///< "/api/v1/services"
  /// Objects are canonical (see codec/decode.h) if the message is known. Without one they are plain
  /// documents, and always come as JSON.
  const api::Message* message = nullptr;
  std::string query = {};  ///< More parameters, escaped: "fieldSelector=metadata.name%3Dweb".
};

/// Returns the target of a kind, in one namespace or, if that is empty, in all of them.
ListTarget TargetOf(const api::Kind& kind, std::string_view name_space = {});

/// Returns a text for the query of a URL.
std::string QueryEscaped(std::string_view text);

struct ListReceiver {
  /// Called when the first page is there, and again if the list starts anew. Earlier objects do not
  /// count then. May be null.
  std::function<void()> begin = {};
  std::function<void(codec::Value object)> object;
};

struct ListOptions {
  int page_size = 500;
  bool protobuf = true;  ///< Prefers protobuf.
  /// What to do if the server forgets the revision of the list before its last page. If set, the
  /// list starts anew, the last time without pages, so that it shows one revision. If unset, the
  /// rest of the list comes from a newer revision, which is quicker.
  bool one_revision = false;
  /// Lists the objects as they were at this revision, if it is not empty. Fails with 410 if the
  /// server has forgotten it.
  std::string revision = {};
  int restarts = 2;  ///< How often the list may start anew.
};

struct Listed {
  std::string resource_version = {};  ///< A watch from here sees all later changes.
  uint64_t objects = 0;
  bool one_revision = true;  ///< False if the last pages are newer than the first ones.
  bool protobuf = false;     ///< Whether the server sent protobuf.
};

/// Lists all objects. On failure the receiver may have seen some of them.
Answer<Listed> List(ApiClient& client, const ListTarget& target, const ListReceiver& receiver,
                    const ListOptions& options = {});

}  // namespace berth::kube
