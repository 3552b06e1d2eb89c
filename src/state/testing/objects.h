// Helpers for tests only: a table of resources with a simple stored form, and objects for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "state/object.h"
#include "state/resource.h"
#include "state/wire_text.h"

namespace berth::state::testing {

/// Indexes of the resources of MakeResources.
inline constexpr uint16_t kServices = 0;
inline constexpr uint16_t kNamespaces = 1;

/// Returns wire JSON with `body` in its spec, as a codec makes it.
inline WireText Wire(std::string_view body) {
  WireText wire;
  wire.text = R"({"kind":"K","apiVersion":"v1",)";
  wire.metadata_at = wire.text.size();
  wire.text += R"("metadata":{"resourceVersion":")";
  wire.version_at = wire.text.size();
  wire.text.append(R"("},"spec":")").append(body).append("\"}");
  return wire;
}

inline constexpr std::string_view kRecordUid = "c0ffee00-0123-4567-89ab-000000000001";

/// The values in which records of addresses differ.
struct Record {
  std::string_view name = "10.0.0.1";
  std::string_view uid = kRecordUid;
  std::string_view time = "2026-11-15T17:17:39Z";
  std::string_view name_space = "default";
  std::string_view owner = "web-12345";
};

/// Returns the wire JSON of a record as a codec makes it, without marked parts.
inline WireText RecordWire(const Record& record) {
  WireText wire;
  wire.text = R"({"kind":"IPAddress","apiVersion":"networking.k8s.io/v1",)";
  wire.metadata_at = wire.text.size();
  wire.text.append(R"("metadata":{"name":")").append(record.name);
  wire.text.append(R"(","uid":")").append(record.uid).append(R"(","resourceVersion":")");
  wire.version_at = wire.text.size();
  wire.text.append(R"(","creationTimestamp":")").append(record.time);
  wire.text += R"(","labels":{"ipaddress.kubernetes.io/ip-family":"IPv4",)"
               R"("ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"})";
  wire.managed_at = wire.text.size();
  wire.text += R"(,"managedFields":[{"manager":"berth","operation":"Update",)"
               R"("apiVersion":"networking.k8s.io/v1","time":")";
  wire.text.append(record.time);
  wire.text +=
      R"(","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},)"
      R"("f:ipaddress.kubernetes.io/ip-family":{},"f:ipaddress.kubernetes.io/managed-by":{}}},)"
      R"("f:spec":{"f:parentRef":{".":{},"f:name":{},"f:namespace":{},"f:resource":{}}}}}])";
  wire.managed_size = wire.text.size() - wire.managed_at;
  wire.text.append(R"(},"spec":{"parentRef":{"resource":"services","namespace":")");
  wire.text.append(record.name_space).append(R"(","name":")").append(record.owner);
  wire.text += R"("}}})";
  return wire;
}

/// Marks the members in which records differ.
inline void MarkRecord(WireText& wire) {
  static constexpr std::array<std::string_view, 5> kMembers = {"name", "uid", "creationTimestamp",
                                                               "namespace", "name"};
  MarkOwn(wire, kMembers);
}

/// Returns the stored form of a body. Decode accepts only values that begin in the same way.
inline std::string Stored(std::string_view body) { return "ok:" + std::string(body); }

inline base::Result<WireText> Decode(std::string_view stored) {
  if (!stored.starts_with("ok:")) {
    return base::Fail(base::Reason::kInternalError, "not a stored object");
  }
  return Wire(stored.substr(3));
}

/// Returns the body of an object that was made from Wire.
inline std::string Body(const Object& object) {
  std::string room;
  const std::string_view text = object.TextWithoutManagedFields(room);
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
