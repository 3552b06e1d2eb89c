// Compares managed fields with those that a real kube-apiserver wrote, step by step. Each step
// starts from the object that the server had returned before, so that one fault shows up once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/yaml_read.h"
#include "merge/apply.h"
#include "merge/managed_fields.h"
#include "rules/service_defaults.h"

namespace berth::merge {
namespace {

using codec::ArrayAt;
using codec::FindAt;
using codec::StringAt;
using codec::Value;

constexpr base::WallTime kNow{std::chrono::seconds{1800000000}};

std::string ReadText(const std::string& path) {
  std::ifstream file(std::string(GOLDEN_DIR) + path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Replaces a placeholder for a chosen port or time by a real one, so that the object can be
// decoded.
Value ReadGolden(const std::string& path) {
  std::string text = ReadText(path);
  text = std::regex_replace(text, std::regex(R"("<port:dynamic:(\d+)>")"), "3200$1");
  text = std::regex_replace(text, std::regex("<time>"), "2024-01-01T00:00:00Z");
  auto value = codec::ParseJson(std::regex_replace(text, std::regex(R"(\{ns\})"), "ns"));
  EXPECT_TRUE(value.has_value()) << path;
  return value.value_or(Value());
}

const api::Kind& KindOf(const Value& step) {
  const std::string_view path = StringAt(step, "path");
  if (path.find("/servicecidrs/") != std::string_view::npos) return api::kServiceCidrKind;
  if (path.find("/ipaddresses/") != std::string_view::npos) return api::kIpAddressKind;
  return api::kServiceKind;
}

Value Decode(const Value& document, const api::Kind& kind) {
  auto decoded = codec::DecodeValue(document, *kind.message);
  EXPECT_TRUE(decoded.has_value()) << codec::WriteJson(document);
  return decoded ? std::move(decoded->object) : Value(codec::Object());
}

// Removes the fields that the server fills in, and times.
std::string Comparable(Value object, const api::Kind& kind) {
  for (const char* name : {"uid", "resourceVersion", "creationTimestamp", "namespace"}) {
    codec::EraseAt(object, {"metadata", name});
  }
  for (const char* name :
       {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"}) {
    codec::EraseAt(object, {"spec", name});
  }
  if (Value* ports = FindAt(object, "spec", "ports")) {
    for (Value& port : *ports->AsArray()) {
      if (codec::IntAt(port, "nodePort") >= 32000) codec::EraseAt(port, {"nodePort"});
    }
  }
  if (Value* entries = FindAt(object, "metadata", "managedFields")) {
    codec::Array& array = *entries->AsArray();
    for (Value& entry : array) codec::EraseAt(entry, {"time"});
    std::sort(array.begin(), array.end(), [](const Value& a, const Value& b) {
      return codec::WriteJson(a) < codec::WriteJson(b);
    });
  }
  return codec::EncodeMessage(object, *kind.message);
}

// One scenario: the objects as the server last returned them, by path.
class Replay {
 public:
  explicit Replay(const std::string& name)
      : scenario_(ReadGolden("/scenarios/" + name + ".json")),
        expected_(ReadGolden("/expected/" + name + ".json")) {}

  void Run() {
    const codec::Array& steps = ArrayAt(scenario_, "steps");
    const codec::Array& answers = ArrayAt(expected_, "steps");
    ASSERT_EQ(steps.size(), answers.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      SCOPED_TRACE(codec::WriteJson(steps[i]));
      Step(steps[i], answers[i]);
    }
    EXPECT_GT(checked_, 3);
  }

 private:
  void Step(const Value& step, const Value& answer) {
    const api::Kind& kind = KindOf(step);
    const Value* body = answer.Find("body");
    if (body == nullptr || body->AsObject() == nullptr) return;
    const std::string path = PathOf(step, *body);
    if (StringAt(step, "method") == "GET" || StringAt(step, "method") == "DELETE") return;
    const bool is_status = StringAt(*body, "kind") == "Status";
    const bool is_apply = StringAt(step, "contentType") == "application/apply-patch+yaml";
    if (is_apply) {
      CheckApply(step, answer, live_[path], kind);
    } else if (!is_status) {
      CheckUpdate(step, *body, live_[path], kind);
    }
    if (is_status || FindAt(step, "query", "dryRun") != nullptr) return;
    live_[path] = Decode(*body, kind);
    if (!KeepsManagedFields()) codec::CopyAt(live_[path], ours_, {"metadata", "managedFields"});
  }

  // Returns whether managed fields were recorded. If not, the replay continues with ours.
  bool KeepsManagedFields() const { return codec::BoolAt(scenario_, "keepManagedFields"); }

  static std::string PathOf(const Value& step, const Value& body) {
    std::string path(StringAt(step, "path"));
    if (StringAt(step, "method") == "POST") {
      path += "/" + std::string(StringAt(body, "metadata", "name"));
    }
    const size_t status = path.find("/status");
    return status == std::string::npos ? path : path.substr(0, status);
  }

  static FieldWrite WriteOf(const Value& step, const api::Kind& kind) {
    const bool status = StringAt(step, "path").ends_with("/status");
    std::string_view manager = StringAt(step, "query", "fieldManager");
    // The name that golden.py uses.
    if (manager.empty()) manager = "kubectl";
    return {.kind = kind,
            .subresource = status ? "status" : std::string_view(),
            .manager = manager,
            .now = kNow};
  }

  // Returns nullopt if the body is not valid YAML.
  static std::optional<Value> BodyOf(const Value& step) {
    const Value& body = *step.Find("body");
    const std::string* text = body.AsString();
    if (text == nullptr) return body;
    const auto document = codec::ParseYaml(*text);
    return document ? std::optional<Value>(document->value) : std::nullopt;
  }

  void CheckApply(const Value& step, const Value& answer, const Value& live,
                  const api::Kind& kind) {
    const FieldWrite write = WriteOf(step, kind);
    if (write.manager.size() > 128 || FindAt(step, "query", "fieldManager") == nullptr) return;
    const std::optional<Value> config = BodyOf(step);
    if (!config) return;
    const Value& body = *answer.Find("body");
    const bool force = StringAt(step, "query", "force") == "true";
    auto applied = Apply(write, {.force = force}, live, *config);
    ++checked_;
    const int64_t code = codec::IntAt(answer, "code");
    const std::string_view message = StringAt(body, "message");
    const bool about_others = code == 422 || message.find("uid mismatch") != std::string::npos ||
                              message.find("on the URL") != std::string::npos;
    if (code < 300 || about_others) {
      ASSERT_TRUE(applied.has_value()) << applied.error().message;
      if (code < 300) CheckObject(*std::move(applied), body, live, kind, write);
      return;
    }
    ASSERT_FALSE(applied.has_value());
    EXPECT_EQ(applied.error().message, message);
    EXPECT_EQ(base::HttpCode(applied.error().reason), code);
    EXPECT_EQ(base::ReasonText(applied.error().reason), StringAt(body, "reason"));
    std::vector<base::Cause> causes;
    for (const Value& cause : ArrayAt(body, "details", "causes")) {
      causes.push_back({std::string(StringAt(cause, "reason")),
                        std::string(StringAt(cause, "message")),
                        std::string(StringAt(cause, "field"))});
    }
    EXPECT_EQ(applied.error().causes, causes);
  }

  void CheckUpdate(const Value& step, const Value& body, const Value& live, const api::Kind& kind) {
    const FieldWrite write = WriteOf(step, kind);
    const bool whole = StringAt(step, "method") != "PATCH";
    Value updated = Decode(whole ? *BodyOf(step) : body, kind);
    if (!whole) {
      codec::CopyAt(updated, live, {"metadata", "managedFields"});
      if (const Value* reset = FindAt(*step.Find("body"), "metadata", "managedFields")) {
        codec::SetAt(updated, {"metadata", "managedFields"}, *reset);
      }
    }
    if (&kind == &api::kServiceKind) rules::DefaultService(updated);
    TrackUpdate(write, live, updated);
    ++checked_;
    CheckObject(std::move(updated), body, live, kind, write);
  }

  void CheckObject(Value object, const Value& body, const Value& live, const api::Kind& kind,
                   const FieldWrite& write) {
    if (&kind == &api::kServiceKind) {
      rules::DefaultService(object);
      if (live.AsObject() != nullptr && write.subresource.empty()) {
        rules::PrepareServiceUpdate(object, live);
      }
    }
    ours_ = object;
    Value expected = Decode(body, kind);
    if (!KeepsManagedFields()) codec::EraseAt(object, {"metadata", "managedFields"});
    EXPECT_EQ(Comparable(std::move(object), kind), Comparable(std::move(expected), kind));
  }

  const Value scenario_;
  const Value expected_;
  std::map<std::string, Value> live_;
  Value ours_;  // Result of the last correct step.
  int checked_ = 0;
};

TEST(ApplyGolden, Basic) { Replay("apply-basic").Run(); }
TEST(ApplyGolden, Ports) { Replay("apply-ports").Run(); }
TEST(ApplyGolden, NodePorts) { Replay("apply-nodeports").Run(); }
TEST(ApplyGolden, Errors) { Replay("apply-errors").Run(); }
TEST(ApplyGolden, ClusterScoped) { Replay("apply-cluster-scoped").Run(); }
TEST(ApplyGolden, ManagedFields) { Replay("managed-fields").Run(); }

}  // namespace
}  // namespace berth::merge
