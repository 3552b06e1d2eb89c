// Canonical objects (see decode.h) to and from Kubernetes protobuf, byte for byte as Kubernetes'
// generated code writes it.
//
// Fields with numbers a message does not know are kept: they stand, as they came, in a member named
// kUnknownFields of the object that had them, behind all others. No JSON, YAML or request can make
// a member of that name, since it is not UTF-8; JSON writers do not show it; EncodeProto writes it
// back behind the known fields.
//
// Pure functions, safe from any thread; any bytes may be given. Errors are kBadRequest.
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
  bool for_storage = false;  // With metadata.resourceVersion and selfLink left empty.
};

std::string EncodeProto(const Value& canonical, const api::Message& message, ProtoStyle style = {});

/// "k8s\0" and runtime.Unknown.
struct Envelope {
  std::string_view api_version;  // All three point into the bytes given.
  std::string_view kind;
  std::string_view raw;
};

base::Result<Envelope> DecodeEnvelope(std::string_view bytes);

std::string WrapEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw);

/// EncodeProto of an object of the kind in its envelope.
std::string EncodeEnvelope(const Value& canonical, const api::Kind& kind, ProtoStyle style = {});

/// Whether there are any in it, however deep.
bool HasUnknownFields(const Value& value);

/// Gives `to` the unknown fields of `from`, an older state of the same object, for each message
/// that both have; entries of lists are the same if their keys are. A message for which `to` brings
/// unknown fields itself keeps those: its writer knows them. Not inside lists without keys, where
/// nobody knows which entry belongs to which.
void KeepUnknownFields(const Value& from, Value& to, const api::Message& message);

}  // namespace berth::codec
