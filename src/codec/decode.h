// Converts request bodies to canonical objects, by the description of their kind.
//
// A canonical object holds only fields that its message knows, in the message's order, each with
// its own type. `kind` and `apiVersion` are not part of it. A field that is not set is absent. Null
// counts as not set, and so does the empty value of a field for which Go cannot tell the two apart
// ("", 0, false, [], {}; a message in which nothing is set). So equal objects are equal Values.
// Entries of lists and maps stay, empty or not. By type:
//
//   kTime, kMicroTime  text in UTC with no or six digits of fraction, whatever the body has
//   kIntOrString       an int or a string; 0 is not set, "" is set
//   kFieldsV1          a string: its compact JSON text
//   kQuantity          a string in canonical form (quantity.h), whatever the body has
//
// Fields that a message does not know are left out and reported. Duplicate members are reported
// too; the last one counts. Names are matched exactly. A value of the wrong type is an error.
//
// Pure functions, safe from any thread. An Error is always kBadRequest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/result.h"
#include "codec/json.h"
#include "codec/value.h"

namespace berth::codec {

/// The `apiVersion` and `kind` of an object.
struct Identity {
  std::string_view api_version = {};
  std::string_view kind = {};
};

/// A finding that strict decoding refuses and lenient decoding warns about.
struct Problem {
  enum class Kind : uint8_t { kUnknown, kDuplicate };
  Kind kind = Kind::kUnknown;
  std::string path;      // "spec.ports[0].bar"
  std::string text;      // `unknown field "spec.ports[0].bar"`: the sentence of a warning.
  bool in_yaml = false;  // A duplicate key in YAML, for which Kubernetes has other words.

  bool operator==(const Problem&) const = default;
};

/// What the server should do about problems, as the client asked: warn, refuse, or ignore them.
enum class FieldValidation : uint8_t { kWarn, kStrict, kIgnore };

/// At most this many problems are reported for one body, as in Kubernetes.
inline constexpr size_t kMostProblems = 100;

struct Decoded {
  Value object;             // Canonical; always an Object.
  std::string api_version;  // Empty if the body has no apiVersion.
  std::string kind;
  std::vector<Problem> problems;
};

struct DecodeOptions {
  JsonLimits limits = {};
  /// If set, an Error has the whole sentence that kube-apiserver answers when it expects such an
  /// object (`Service in version "v1" cannot be handled as a Service: json: ...`). If unset, an
  /// Error has only the last part of it.
  ///
  /// A body of another kind or version is not read any further, and its object stays empty. So
  /// callers check `kind` and `api_version` of the result before its object.
  Identity expected = {};
  /// For a tree: reports problems in the order of keys, not of the tree.
  bool by_key = false;
};

base::Result<Decoded> DecodeJson(std::string_view body, const api::Message& message,
                                 const DecodeOptions& options = {});

/// Decodes one document. Problems are in the order of keys, as in Kubernetes, not of the text.
base::Result<Decoded> DecodeYaml(std::string_view body, const api::Message& message,
                                 const DecodeOptions& options = {});

/// Decodes a Kubernetes protobuf envelope. There are never problems: unknown
/// fields are kept, see protobuf.h.
base::Result<Decoded> DecodeProtobuf(std::string_view body, const api::Message& message,
                                     const DecodeOptions& options = {});

/// Any JSON text, such as a patch. An Error is in Go's words if Go would refuse the text too.
struct JsonDocument {
  Value value;
  std::vector<Problem> problems;  // Duplicate members.
};
base::Result<JsonDocument> ReadJson(std::string_view text, const JsonLimits& limits = {});

/// Decodes a document tree, such as the result of a patch.
base::Result<Decoded> DecodeValue(const Value& document, const api::Message& message,
                                  const DecodeOptions& options = {});

/// Returns text like `strict decoding error: unknown field "a", duplicate field "b"`.
std::string StrictMessage(std::span<const Problem> problems);

}  // namespace berth::codec
