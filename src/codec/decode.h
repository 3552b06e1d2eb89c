// Request bodies to canonical objects, by the description of their kind.
//
// A canonical object holds the fields its message knows and no others, in the message's order, each
// with its own type; `kind` and `apiVersion` are not part of it. What is not set is not there: null
// counts as that, and so does the empty value of a field for which Go cannot tell the two apart
// ("", 0, false, [], {}; a message in which nothing is set). So equal objects are equal Values.
// Inside lists and maps entries stay, empty or not. By type:
//
//   kTime, kMicroTime  text in UTC with no or six digits of fraction, whatever was given
//   kIntOrString       an int or a string; 0 is not set, "" is set
//   kFieldsV1          a string: the compact JSON text of it
//
// Fields a message does not know are left out and reported, as are members given twice, of which
// the last counts. Names are matched exactly. A value of the wrong type is an error.
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

/// Of an object: what `apiVersion` and `kind` say.
struct Identity {
  std::string_view api_version = {};
  std::string_view kind = {};
};

/// What strict decoding refuses and lenient decoding warns about.
struct Problem {
  enum class Kind : uint8_t { kUnknown, kDuplicate };
  Kind kind = Kind::kUnknown;
  std::string path;      // "spec.ports[0].bar"
  std::string text;      // `unknown field "spec.ports[0].bar"`: the sentence of a warning.
  bool in_yaml = false;  // A key twice in YAML, which Kubernetes words in its own way.

  bool operator==(const Problem&) const = default;
};

/// What a client wants to be done about them: told, refused or nothing.
enum class FieldValidation : uint8_t { kWarn, kStrict, kIgnore };

/// No more are reported of one body, as upstream.
inline constexpr size_t kMostProblems = 100;

struct Decoded {
  Value object;             // Canonical; always an Object.
  std::string api_version;  // Empty if the body does not say.
  std::string kind;
  std::vector<Problem> problems;
};

struct DecodeOptions {
  JsonLimits limits = {};
  /// Given these, an Error has the whole sentence that kube-apiserver answers when it expects such
  /// an object (`Service in version "v1" cannot be handled as a Service: json: ...`); without, only
  /// its last part.
  /// A body that says it is something else is not read any further: compare `kind` and
  /// `api_version` of what comes back before its object, which is empty then.
  Identity expected = {};
  /// Of a tree: problems come in the order of keys, not of the tree.
  bool by_key = false;
};

base::Result<Decoded> DecodeJson(std::string_view body, const api::Message& message,
                                 const DecodeOptions& options = {});

/// One document. Problems come in the order of keys, as they do upstream, not of the text.
base::Result<Decoded> DecodeYaml(std::string_view body, const api::Message& message,
                                 const DecodeOptions& options = {});

/// A Kubernetes protobuf envelope. Never has problems; unknown fields are kept, see protobuf.h.
base::Result<Decoded> DecodeProtobuf(std::string_view body, const api::Message& message,
                                     const DecodeOptions& options = {});

/// Any JSON text, such as a patch. An Error is in Go's words where Go would refuse the text too.
struct JsonDocument {
  Value value;
  std::vector<Problem> problems;  // Members given twice.
};
base::Result<JsonDocument> ReadJson(std::string_view text, const JsonLimits& limits = {});

/// A document tree, such as a patch leaves behind.
base::Result<Decoded> DecodeValue(const Value& document, const api::Message& message,
                                  const DecodeOptions& options = {});

/// `strict decoding error: unknown field "a", duplicate field "b"`
std::string StrictMessage(std::span<const Problem> problems);

}  // namespace berth::codec
