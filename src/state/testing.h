// Helpers for tests only: resources whose stored form is easy to write down.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "state/object.h"
#include "state/resource.h"

namespace berth::state::testing {

/// Resources of the table below.
inline constexpr uint16_t kServices = 0;
inline constexpr uint16_t kNamespaces = 1;

/// Wire JSON with `body` in its spec, as a codec would make it.
inline WireText Wire(std::string_view body) {
  WireText wire;
  wire.text = R"({"kind":"K","apiVersion":"v1",)";
  wire.metadata_at = wire.text.size();
  wire.text += R"("metadata":{"resourceVersion":")";
  wire.version_at = wire.text.size();
  wire.text.append(R"("},"spec":")").append(body).append("\"}");
  return wire;
}

/// What is stored for it; a value that does not begin like this cannot be decoded.
inline std::string Stored(std::string_view body) { return "ok:" + std::string(body); }

inline base::Result<WireText> Decode(std::string_view stored) {
  if (!stored.starts_with("ok:")) {
    return base::Fail(base::Reason::kInternalError, "not a stored object");
  }
  return Wire(stored.substr(3));
}

/// The body that an object was made of.
inline std::string Body(const Object& object) {
  const std::string_view text = object.TextWithoutManagedFields();
  const size_t at = text.rfind("\"spec\":\"") + 8;
  return std::string(text.substr(at, text.size() - at - 2));
}

inline Resources MakeResources() {
  std::vector<Resource> rows;
  rows.push_back({.name = "services",
                  .prefix = "/registry/services/specs/",
                  .namespaced = true,
                  .decode = Decode});
  rows.push_back({.name = "namespaces",
                  .prefix = "/registry/namespaces/",
                  .namespaced = false,
                  .decode = Decode});
  return Resources(std::move(rows));
}

inline std::string ServiceKey(std::string_view name_space, std::string_view name) {
  return std::string("/registry/services/specs/").append(name_space).append("/").append(name);
}

}  // namespace berth::state::testing
