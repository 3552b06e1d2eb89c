#include "codec/decode.h"

#include <fmt/format.h>

#include <utility>

#include "base/escape.h"
#include "base/go_text.h"
#include "codec/decode_walk.h"
#include "codec/go_syntax.h"
#include "codec/json_dom.h"
#include "codec/protobuf.h"
#include "codec/sources.h"
#include "codec/yaml_read.h"

namespace berth::codec {
namespace {

// The type that Kubernetes first decodes a body into, to learn its kind.
constexpr std::string_view kHeaderType =
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
    "Kind string \"json:\\\"kind,omitempty\\\"\" }";

// Returns the first bytes of a body, as Kubernetes shows them in errors.
std::string Summary(std::string_view body) {
  static constexpr size_t kMost = 30;
  if (body.empty()) return "<empty>";
  const std::string_view shown = body.substr(0, kMost);
  const std::string_view dots = body.size() > kMost ? " ..." : "";
  if (body.front() == '{') return base::ToValidUtf8(shown) + std::string(dots);
  std::string hex;
  for (const char c : shown) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex + std::string(dots);
}

// Words errors as the options require.
class Refusal {
 public:
  Refusal(const DecodeOptions& options, std::string_view body)
      : expected_(options.expected), body_(body) {}

  /// The kind of the body cannot be determined.
  tl::unexpected<base::Error> Unrecognized(const std::string& what) const {
    if (expected_.kind.empty()) return base::Fail(base::Reason::kBadRequest, what);
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("the object provided is unrecognized (must be of type {}): {} "
                                  "({})",
                                  expected_.kind, what, Summary(body_)));
  }

  tl::unexpected<base::Error> BadHeader(const std::string& what) const {
    return Unrecognized("couldn't get version/kind; json parse error: " + what);
  }

  /// The body has a kind, but its content does not match it.
  tl::unexpected<base::Error> BadContent(const Decoded& decoded, const std::string& what) const {
    if (expected_.kind.empty()) return base::Fail(base::Reason::kBadRequest, what);
    const std::string_view kind = decoded.kind.empty() ? expected_.kind : decoded.kind;
    std::string_view version =
        decoded.api_version.empty() ? expected_.api_version : decoded.api_version;
    version.remove_prefix(version.find('/') + 1);
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("{} in version {} cannot be handled as a {}: {}", kind,
                                  base::GoQuoted(version), expected_.kind, what));
  }

 private:
  const Identity expected_;
  const std::string_view body_;
};

// Returns whether the body has another kind or version than expected.
bool IsOther(const Decoded& decoded, const Identity& expected) {
  if (expected.kind.empty()) return false;
  return (!decoded.kind.empty() && decoded.kind != expected.kind) ||
         (!decoded.api_version.empty() && decoded.api_version != expected.api_version);
}

// Returns the text that stores `kind` or `apiVersion`, or null for all other members.
std::string* HeaderField(Decoded& decoded, std::string_view key) {
  if (key == "kind") return &decoded.kind;
  return key == "apiVersion" ? &decoded.api_version : nullptr;
}

// Reads `kind` and `apiVersion`. Returns the fault, or "" if they are valid.
template <typename Source>
std::string ReadHeader(const Source& root, Decoded& decoded) {
  if (root.GetKind() == Kind::kNull) return {};
  if (root.GetKind() != Kind::kObject) {
    return fmt::format("json: cannot unmarshal {} into Go value of type {}",
                       NameOfKind(root.GetKind()), kHeaderType);
  }
  std::string fault;
  root.Members([&](std::string_view key, const Source& value) {
    std::string* field = HeaderField(decoded, key);
    if (field == nullptr || value.GetKind() == Kind::kNull) return;
    if (value.GetKind() == Kind::kString) {
      *field = value.String();
    } else if (fault.empty()) {
      fault = fmt::format("json: cannot unmarshal {} into Go struct field .{} of type string",
                          NameOfKind(value.GetKind()), key);
    }
  });
  return fault;
}

template <typename Source>
base::Result<Decoded> DecodeTree(const Source& root, const api::Message& message,
                                 const DecodeOptions& options, const Refusal& refusal,
                                 std::vector<Problem> problems = {}) {
  Decoded decoded{.object = Object(), .api_version = {}, .kind = {}, .problems = {}};
  if (const std::string fault = ReadHeader(root, decoded); !fault.empty()) {
    return refusal.BadHeader(fault);
  }
  // Null is an object in which nothing is set, as in Go.
  if (root.GetKind() == Kind::kNull || IsOther(decoded, options.expected)) return decoded;
  WalkNotes notes(/*report_problems=*/true);
  DecodeWalk<Source> walk(notes);
  bool kind_seen = false;
  bool version_seen = false;
  decoded.object = walk.ReadObject(root, message, [&](std::string_view key, const Source&) {
    if (HeaderField(decoded, key) == nullptr) return false;
    if (std::exchange(key == "kind" ? kind_seen : version_seen, true)) {
      const WalkNotes::Step step(notes, &message, key);
      notes.Report(Problem::Kind::kDuplicate);
    }
    return true;
  });
  if (notes.Failed()) return refusal.BadContent(decoded, notes.TakeFault());
  decoded.problems = std::move(problems);
  for (Problem& problem : notes.TakeProblems()) {
    if (decoded.problems.size() < kMostProblems) decoded.problems.push_back(std::move(problem));
  }
  return decoded;
}

}  // namespace

base::Result<Decoded> DecodeJson(std::string_view body, const api::Message& message,
                                 const DecodeOptions& options) {
  const Refusal refusal(options, body);
  JsonDom dom;
  const auto root = dom.Parse(body, options.limits);
  if (!root) {
    // Errors are in Go's words if Go would refuse the text too. Go accepts some numbers and
    // depths that simdjson does not.
    const bool readable = body.size() <= options.limits.bytes;
    const auto in_go = readable ? GoSyntaxError(body) : std::nullopt;
    return refusal.BadHeader(in_go.value_or("invalid JSON: " + root.error().message));
  }
  return DecodeTree(JsonSource{*root}, message, options, refusal);
}

base::Result<Decoded> DecodeYaml(std::string_view body, const api::Message& message,
                                 const DecodeOptions& options) {
  const Refusal refusal(options, body);
  auto document = ParseYaml(body, options.limits);
  if (!document) return refusal.Unrecognized(document.error().message);
  std::vector<Problem> problems;
  for (DuplicateKey& duplicate : document->duplicates) {
    problems.push_back({.kind = Problem::Kind::kDuplicate,
                        .path = std::move(duplicate.path),
                        .text = fmt::format("line {}: key {} already set in map", duplicate.line,
                                            base::GoQuoted(duplicate.key)),
                        .in_yaml = true});
  }
  return DecodeTree(ValueSource{.value = &document->value, .by_key = true}, message, options,
                    refusal, std::move(problems));
}

base::Result<Decoded> DecodeValue(const Value& document, const api::Message& message,
                                  const DecodeOptions& options) {
  return DecodeTree(ValueSource{.value = &document, .by_key = options.by_key}, message, options,
                    Refusal(options, {}));
}

base::Result<Decoded> DecodeProtobuf(std::string_view body, const api::Message& message,
                                     const DecodeOptions& options) {
  const Refusal refusal(options, body);
  const auto envelope = DecodeEnvelope(body);
  if (!envelope) return refusal.Unrecognized(envelope.error().message);
  Decoded decoded{.object = Object(),
                  .api_version = std::string(envelope->api_version),
                  .kind = std::string(envelope->kind),
                  .problems = {}};
  if (IsOther(decoded, options.expected)) return decoded;
  auto object = DecodeProto(envelope->raw, message, {.bytes = options.limits.bytes});
  if (!object) return refusal.BadContent(decoded, object.error().message);
  decoded.object = std::move(*object);
  return decoded;
}

std::string StrictMessage(std::span<const Problem> problems) {
  std::string message = "strict decoding error: ";
  bool first = true;
  for (const Problem& problem : problems) {
    if (!std::exchange(first, false)) message += problem.in_yaml ? "\n  " : ", ";
    // Kubernetes makes one error of all that its YAML parser reports.
    if (problem.in_yaml && &problem == problems.data()) message += "yaml: unmarshal errors:\n  ";
    message += problem.text;
  }
  return message;
}

}  // namespace berth::codec
