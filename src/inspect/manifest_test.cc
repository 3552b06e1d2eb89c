#include "inspect/manifest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/read.h"

namespace berth::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kWeb =
    "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  type: NodePort\n"
    "  ports:\n  - port: 80\n    nodePort: 30088\n";

/// Returns "name@line:column" of the first node port of each Service.
std::vector<std::string> NodePorts(const Manifest& manifest) {
  std::vector<std::string> out;
  for (const ManifestService& service : manifest.services) {
    const codec::TextMark mark = service.MarkOf("spec.ports[0].nodePort");
    out.push_back(std::string(codec::StringAt(service.object, "metadata", "name")) + "@" +
                  std::to_string(mark.line) + ":" + std::to_string(mark.column));
  }
  return out;
}

TEST(ReadManifest, EveryForm) {
  const std::string json = R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j"},)"
                           R"("spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30001}]}})";
  const struct {
    std::string what;
    std::string text;
    std::vector<std::string> found;
  } rows[] = {
      {"block", kWeb, {"web@8:15"}},
      {"documents",
       std::string("# c\n---\n") + kWeb + "---\nkind: X\n---\n" + kWeb,
       {"web@10:15", "web@21:15"}},
      {"list in a list",
       "kind: List\napiVersion: v1\nitems:\n- kind: List\n  items:\n  - apiVersion: v1\n"
       "    kind: Service\n    metadata: {name: deep}\n    spec: {ports: [{nodePort: 30001}]}\n",
       {"deep@9:31"}},
      {"json", json, {"j@1:118"}},
      {"json list",
       "{\"kind\":\"List\",\n \"items\":[\n  " + json + ",\n" + json + "]}",
       {"j@3:120", "j@4:118"}},
      {"json stream", json + "\n" + json, {"j@1:118", "j@2:118"}},
      {"flow that is not JSON",
       "{apiVersion: v1, kind: Service, metadata: {name: f}, spec: {ports: [{nodePort: 1}]}}",
       {"f@1:80"}},
      {"alias",
       "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nx: &p 30088\nspec:\n  ports:\n"
       "  - nodePort: *p\n",
       {"a@7:15"}},
      {"another kind of Service", "apiVersion: serving.knative.dev/v1\nkind: Service\n", {}},
      {"no Service at all", "kind: Deployment\n\tbroken: [", {}},
      {"empty", "", {}},
  };
  for (const auto& row : rows) {
    const Manifest manifest = ReadManifest("f", row.text);
    EXPECT_EQ(NodePorts(manifest), row.found) << row.what;
    EXPECT_THAT(manifest.faults, IsEmpty()) << row.what;
  }
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : std::string(kWeb)) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_THAT(NodePorts(ReadManifest("f", windows)), ElementsAre("web@8:15"));
}

TEST(ReadManifest, MergeKeysAreFollowed) {
  const Manifest manifest = ReadManifest("f",
                                         "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
                                         "x: &port {port: 80, nodePort: 30088}\n"
                                         "spec:\n  ports:\n  - <<: *port\n    name: http\n");
  EXPECT_THAT(NodePorts(manifest), ElementsAre("web@7:5"));
  EXPECT_THAT(manifest.faults, IsEmpty());
}

// kubectl get --raw /api/v1/services prints such a list.
TEST(ReadManifest, ItemsOfTypedListsHaveTheKindOfTheList) {
  constexpr std::string_view kItems =
      R"([{"metadata": {"name": "a"}, "spec": {"ports": [{"nodePort": 30001}]}},
          {"metadata": {"name": "b"}, "spec": {"ports": [{"nodePort": 30002}]}}])";
  const auto read = [&](std::string_view before, std::string_view after) {
    return NodePorts(ReadManifest("f", fmt::format("{}{}{}", before, kItems, after)));
  };
  EXPECT_THAT(read(R"({"kind": "ServiceList", "apiVersion": "v1", "items": )", "}"),
              ElementsAre(testing::StartsWith("a@1:"), testing::StartsWith("b@2:")));
  EXPECT_EQ(read(R"({"items": )", R"(, "kind": "ServiceList", "apiVersion": "v1"})").size(), 2U);
  EXPECT_EQ(read("kind: ServiceList\napiVersion: v1\nitems: ", "").size(), 2U);
  EXPECT_THAT(read(R"({"kind": "PodList", "apiVersion": "v1", "items": )", "}"), IsEmpty());
}

TEST(ReadManifest, WhatCannotBeReadIsAFaultAndTheRestCounts) {
  const struct {
    std::string text;
    bool is_template;
    size_t line;
    std::string message;
  } rows[] = {
      {"kind: Service\nspec:\n\tx: 1\n", false, 3, "cannot start any token"},
      {"kind: Service\nnodePort: {{ .Values.port }}\n", true, 1, "template"},
      {"{{- if .Values.on }}\nkind: Service\n{{- end }}\n", true, 1, "template"},
      {"kind: Service\nspec:\n  <<: 1\n", false, 0, "map merge requires map"},
      {"kind: Service\nx: *unknown\n", false, 0, "unknown anchor"},
      {"kind: Service\nx: \x01\x02", false, 2, "cannot be read"},
      {"{\"kind\": \"Service\", ", false, 2, "cannot be read"},
      {std::string("\xFF\xFEk\0i\0", 6), false, 1, "UTF-16"},
  };
  for (const auto& row : rows) {
    // It comes second, after a document that is fine.
    const bool first = row.text.starts_with('{') || row.text.starts_with('\xFF');
    const Manifest manifest =
        ReadManifest("f", first ? row.text : std::string(kWeb) + "---\n" + row.text);
    EXPECT_EQ(manifest.services.size(), first ? 0U : 1U) << row.text;
    ASSERT_EQ(manifest.faults.size(), 1U) << row.text;
    EXPECT_THAT(manifest.faults[0].message, HasSubstr(row.message)) << row.text;
    EXPECT_EQ(manifest.faults[0].is_template, row.is_template) << row.text;
    if (!row.is_template) {
      EXPECT_EQ(manifest.faults[0].mark.line, row.line + (first ? 0 : 9)) << row.text;
    }
  }
}

TEST(ReadManifest, CommentsThatIgnore) {
  const Manifest manifest = ReadManifest("f", std::string(kWeb) +
                                                  "# berth-lint: ignore taken\n"
                                                  "x: 1 # berth-lint: ignore a,b why not\r\n"
                                                  "y: 2 # berth-lint: praise\nz: berth-lint: \n");
  ASSERT_EQ(manifest.ignores.size(), 2U);
  EXPECT_EQ(manifest.ignores[0].line, 10U);
  EXPECT_EQ(manifest.ignores[0].rules, "taken");
  EXPECT_EQ(manifest.ignores[1].line, 10U);
  EXPECT_EQ(manifest.ignores[1].rules, "a,b");
}

TEST(ReadManifest, DeepListsEnd) {
  std::string text = "apiVersion: v1\nkind: Service\nitems: ";
  for (int i = 0; i < 200; ++i) text += "[";
  for (int i = 0; i < 200; ++i) text += "]";
  EXPECT_THAT(ReadManifest("f", text).services, IsEmpty());
}

}  // namespace
}  // namespace berth::inspect
