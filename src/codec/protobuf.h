// Canonical objects (see decode.h) to and from Kubernetes protobuf, byte for byte as Kubernetes'
// generated code writes it.
//
// Fields with numbers that a message does not know are kept. Their bytes are stored unchanged in a
// member named kUnknownFields of the object that had them, after all other members. No JSON, YAML
// or request can make a member of that name, since it is not UTF-8. JSON writers do not show it.
// EncodeProto writes the bytes after the known fields.
//
// Pure functions, safe from any thread, for any bytes. Errors are kBadRequest.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "api/schema.h"
#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

inline constexpr std::string_view kUnknownFields = "\xFFunknown";

inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

struct ProtoLimits {
  size_t bytes = size_t{3} * 1024 * 1024;
};

base::Result<Value> DecodeProto(std::string_view bytes, const api::Message& message,
                                const ProtoLimits& limits = {});

struct ProtoStyle {
  bool for_storage = false;  // Leaves metadata.resourceVersion and selfLink empty.
};

std::string EncodeProto(const Value& canonical, const api::Message& message, ProtoStyle style = {});

/// The content of "k8s\0" and runtime.Unknown.
struct Envelope {
  std::string_view api_version;  // All three point into the input.
  std::string_view kind;
  std::string_view raw;
};

base::Result<Envelope> DecodeEnvelope(std::string_view bytes);

std::string WrapEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw);

/// Encodes an object of the kind, with its envelope.
std::string EncodeEnvelope(const Value& canonical, const api::Kind& kind, ProtoStyle style = {});

/// Returns whether the value has unknown fields at any depth.
bool HasUnknownFields(const Value& value);

/// Copies the unknown fields of `from`, an older state of the same object, to `to`, for each
/// message that both have. Entries of lists correspond if their keys are equal. A message that has
/// unknown fields in `to` keeps those, because its writer knows them. Lists without keys are
/// skipped, because it is not known which entries correspond.
void KeepUnknownFields(const Value& from, Value& to, const api::Message& message);

}  // namespace berth::codec
