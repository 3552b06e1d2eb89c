#include "server/openapi_gnostic.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "codec/json.h"

namespace berth::server {
namespace {

using codec::Member;
using codec::Value;

/// Builds one protobuf message. Each function takes a field's number and the name of the member of
/// `from` that it writes there. It writes nothing if there is no such member.
class GnosticMessage {
 public:
  explicit GnosticMessage(const Value& from) : from_(from) {}

  void Text(uint32_t number, std::string_view key) {
    const Value* value = from_.Find(key);
    if (value != nullptr && value->AsString() != nullptr) Bytes(number, *value->AsString());
  }

  void Texts(uint32_t number, std::string_view key) {
    ForEach(key, [&](const Value& item) {
      if (item.AsString() != nullptr) Bytes(number, *item.AsString());
    });
  }

  void Bool(uint32_t number, std::string_view key) {
    const Value* value = from_.Find(key);
    if (value == nullptr || !value->AsBool().value_or(false)) return;
    Varint(uint64_t{number} << 3);
    Varint(1);
  }

  /// Writes a value of any type as YAML, of which JSON is a subset.
  void Any(uint32_t number, std::string_view key) {
    if (const Value* value = from_.Find(key)) Bytes(number, AnyOf(*value));
  }

  template <typename Write>
  void One(uint32_t number, std::string_view key, Write write) {
    if (const Value* value = from_.Find(key)) Bytes(number, write(*value));
  }

  template <typename Write>
  void Each(uint32_t number, std::string_view key, Write write) {
    ForEach(key, [&](const Value& item) { Bytes(number, write(item)); });
  }

  /// Writes a map: a message in which each entry is a field `inner` with name and value.
  template <typename Write>
  void Named(uint32_t number, std::string_view key, uint32_t inner, Write write) {
    const Value* value = from_.Find(key);
    if (value == nullptr || value->AsObject() == nullptr) return;
    GnosticMessage map(*value);
    for (const Member& member : *value->AsObject()) {
      map.Entry(inner, member.key, write(member.value));
    }
    Bytes(number, std::move(map).Take());
  }

  void Extensions(uint32_t number) {
    if (from_.AsObject() == nullptr) return;
    for (const Member& member : *from_.AsObject()) {
      if (member.key.starts_with("x-")) Entry(number, member.key, AnyOf(member.value));
    }
  }

  void Bytes(uint32_t number, std::string_view bytes) {
    Varint(uint64_t{number} << 3 | 2);
    Varint(bytes.size());
    out_ += bytes;
  }

  std::string Take() && { return std::move(out_); }

 private:
  template <typename Use>
  void ForEach(std::string_view key, Use use) {
    const Value* value = from_.Find(key);
    if (value == nullptr || value->AsArray() == nullptr) return;
    for (const Value& item : *value->AsArray()) use(item);
  }

  void Entry(uint32_t number, std::string_view name, std::string_view bytes) {
    GnosticMessage entry(from_);
    entry.Bytes(1, name);
    entry.Bytes(2, bytes);
    Bytes(number, entry.out_);
  }

  std::string AnyOf(const Value& value) {
    GnosticMessage any(from_);
    any.Bytes(2, codec::WriteJson(value));
    return std::move(any).Take();
  }

  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  const Value& from_;
  std::string out_;
};

/// Returns a message with one field: one choice of several, or a list of one.
std::string Wrap(uint32_t number, std::string_view bytes) {
  const Value nothing;
  GnosticMessage message(nothing);
  message.Bytes(number, bytes);
  return std::move(message).Take();
}

std::string Schema(const Value& value) {
  GnosticMessage message(value);
  message.Text(1, "$ref");
  message.Text(2, "format");
  message.Text(4, "description");
  message.Any(5, "default");
  message.Texts(19, "required");
  message.One(21, "additionalProperties", [](const Value& of) { return Wrap(1, Schema(of)); });
  message.One(22, "type", [](const Value& type) {
    return Wrap(1, type.AsString() == nullptr ? std::string() : *type.AsString());
  });
  message.One(23, "items", [](const Value& of) { return Wrap(1, Schema(of)); });
  message.Named(25, "properties", 1, Schema);
  message.Extensions(31);
  return std::move(message).Take();
}

std::string Reference(const Value& value) {
  GnosticMessage message(value);
  message.Text(1, "$ref");
  return std::move(message).Take();
}

std::string BodyParameter(const Value& value) {
  GnosticMessage message(value);
  message.Text(2, "name");
  message.Text(3, "in");
  message.Bool(4, "required");
  message.One(5, "schema", Schema);
  return std::move(message).Take();
}

/// Encodes a parameter of the path or the query. They differ only in the number of the type.
std::string PlainParameter(const Value& value, uint32_t type_number) {
  GnosticMessage message(value);
  message.Bool(1, "required");
  message.Text(2, "in");
  message.Text(3, "description");
  message.Text(4, "name");
  message.Text(type_number, "type");
  return std::move(message).Take();
}

std::string Parameter(const Value& value) {
  const Value* in = value.Find("in");
  if (in != nullptr && *in == Value("body")) return Wrap(1, BodyParameter(value));
  if (in != nullptr && *in == Value("path")) return Wrap(2, Wrap(4, PlainParameter(value, 5)));
  return Wrap(2, Wrap(3, PlainParameter(value, 6)));
}

std::string ParameterOrReference(const Value& value) {
  if (value.Find("$ref") != nullptr) return Wrap(2, Reference(value));
  return Wrap(1, Parameter(value));
}

std::string Response(const Value& value) {
  GnosticMessage message(value);
  message.Text(1, "description");
  message.One(2, "schema", [](const Value& schema) { return Wrap(1, Schema(schema)); });
  return Wrap(1, std::move(message).Take());
}

std::string Operation(const Value& value) {
  GnosticMessage message(value);
  message.Texts(1, "tags");
  message.Text(3, "description");
  message.Text(5, "operationId");
  message.Texts(6, "produces");
  message.Texts(7, "consumes");
  message.Each(8, "parameters", ParameterOrReference);
  message.Named(9, "responses", 1, Response);
  message.Extensions(13);
  return std::move(message).Take();
}

std::string PathItem(const Value& value) {
  GnosticMessage message(value);
  message.One(2, "get", Operation);
  message.One(3, "put", Operation);
  message.One(4, "post", Operation);
  message.One(5, "delete", Operation);
  message.One(8, "patch", Operation);
  message.Each(9, "parameters", ParameterOrReference);
  return std::move(message).Take();
}

std::string Info(const Value& value) {
  GnosticMessage message(value);
  message.Text(1, "title");
  message.Text(2, "version");
  return std::move(message).Take();
}

}  // namespace

std::string GnosticDocument(const Value& document) {
  GnosticMessage message(document);
  message.Text(1, "swagger");
  message.One(2, "info", Info);
  message.Named(8, "paths", 2, PathItem);
  message.Named(9, "definitions", 1, Schema);
  message.Named(10, "parameters", 1, Parameter);
  return std::move(message).Take();
}

}  // namespace berth::server
