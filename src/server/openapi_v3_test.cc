#include "server/openapi_v3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "api/meta.h"
#include "codec/json.h"
#include "codec/read.h"

namespace berth::server {
namespace {

using codec::Member;
using codec::ObjectAt;
using codec::StringAt;
using codec::Value;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kKindKey = "x-kubernetes-group-version-kind";
constexpr std::string_view kMethods[] = {"get", "put", "post", "patch", "delete"};

std::string PathOf(const api::Kind& kind) {
  return (kind.group.empty() ? "api/" : "apis/") + std::string(kind.api_version);
}

Value Parse(const Document* document) {
  if (document == nullptr) return {};
  base::Result<Value> value = codec::ParseJson(*document->body);
  EXPECT_TRUE(value.has_value());
  return value.has_value() ? *value : Value();
}

const OpenApiV3& AllV3() {
  static const OpenApiV3 all(api::AllKinds());
  return all;
}

/// Returns all documents by path.
const std::map<std::string, Value>& Documents() {
  static const std::map<std::string, Value> documents = [] {
    std::map<std::string, Value> made;
    for (const api::Kind* kind : api::AllKinds()) {
      made[PathOf(*kind)] = Parse(AllV3().Find(PathOf(*kind)));
    }
    return made;
  }();
  return documents;
}

const Value& Core() { return Documents().at("api/v1"); }

const Value& Schema(const Value& document, std::string_view name) {
  static const Value nothing;
  const Value* schema = codec::FindAt(document, "components", "schemas", name);
  return schema == nullptr ? nothing : *schema;
}

/// Returns every object inside `value`, including `value`.
void ForEachObject(const Value& value, const std::function<void(const Value&)>& use) {
  if (value.AsObject() != nullptr) {
    use(value);
    for (const Member& member : *value.AsObject()) ForEachObject(member.value, use);
  } else if (value.AsArray() != nullptr) {
    for (const Value& item : *value.AsArray()) ForEachObject(item, use);
  }
}

void ForEachOperation(const Value& document,
                      const std::function<void(std::string_view path, std::string_view method,
                                               const Value& operation)>& use) {
  for (const Member& path : ObjectAt(document, "paths")) {
    for (const std::string_view method : kMethods) {
      if (const Value* operation = path.value.Find(method)) use(path.key, method, *operation);
    }
  }
}

void Collect(const api::Message& message, std::set<const api::Message*>& into) {
  if (!into.insert(&message).second) return;
  for (const api::Field& field : message.fields) {
    if (field.message != nullptr) Collect(*field.message, into);
  }
}

/// Describes one value of a field in a word: the type with its format, or the name of a schema.
std::string ExpectedWord(const api::Field& field) {
  switch (field.type) {
    case api::Type::kString:
      return "string";
    case api::Type::kBool:
      return "boolean";
    case api::Type::kInt32:
      return "integer/int32";
    case api::Type::kInt64:
      return "integer/int64";
    case api::Type::kTime:
      return "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
    case api::Type::kMicroTime:
      return "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
    case api::Type::kIntOrString:
      return "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
    case api::Type::kFieldsV1:
      return "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
    case api::Type::kQuantity:
      return "io.k8s.apimachinery.pkg.api.resource.Quantity";
    case api::Type::kMessage:
      return std::string(field.message->openapi_name);
  }
  return "";
}

std::string WordOf(const Value& schema) {
  if (const Value* all_of = schema.Find("allOf")) return WordOf(all_of->AsArray()->front());
  const std::string ref(StringAt(schema, "$ref"));
  constexpr std::string_view kPrefix = "#/components/schemas/";
  if (ref.starts_with(kPrefix)) return ref.substr(kPrefix.size());
  const std::string format(StringAt(schema, "format"));
  return std::string(StringAt(schema, "type")) + (format.empty() ? "" : "/" + format);
}

std::string ShapeAndWordOf(const Value& schema) {
  if (schema.Find("items") != nullptr) return "list of " + WordOf(*schema.Find("items"));
  if (const Value* values = schema.Find("additionalProperties")) return "map of " + WordOf(*values);
  return WordOf(schema);
}

TEST(OpenApiV3, EveryFieldIsThereWithTypeAndDescription) {
  for (const api::Kind* kind : api::AllKinds()) {
    std::set<const api::Message*> messages;
    Collect(*kind->message, messages);
    for (const api::Message* also : {&api::kListMeta, &api::kStatus, &api::kDeleteOptions}) {
      Collect(*also, messages);
    }
    for (const api::Message* message : messages) {
      SCOPED_TRACE(message->openapi_name);
      const Value& schema = Schema(Documents().at(PathOf(*kind)), message->openapi_name);
      EXPECT_EQ(StringAt(schema, "description"), message->description);
      EXPECT_EQ(StringAt(schema, "type"), "object");
      const bool whole = schema.Find(kKindKey) != nullptr;  // It has kind and apiVersion.
      EXPECT_EQ(ObjectAt(schema, "properties").size(), message->fields.size() + (whole ? 2 : 0));
      for (const api::Field& field : message->fields) {
        SCOPED_TRACE(field.name);
        const Value* property = codec::FindAt(schema, "properties", field.name);
        ASSERT_NE(property, nullptr);
        EXPECT_EQ(StringAt(*property, "description"), field.description);
        const std::string shape = field.shape == api::Shape::kList  ? "list of "
                                  : field.shape == api::Shape::kMap ? "map of "
                                                                    : "";
        EXPECT_EQ(ShapeAndWordOf(*property), shape + ExpectedWord(field));
        const codec::Array& required = codec::ArrayAt(schema, "required");
        EXPECT_EQ(std::count(required.begin(), required.end(), Value(field.name)),
                  field.required ? 1 : 0);
      }
    }
  }
}

TEST(OpenApiV3, EveryReferenceLeadsSomewhereAndStandsAlone) {
  size_t references = 0;
  for (const auto& [path, document] : Documents()) {
    SCOPED_TRACE(path);
    ForEachObject(document, [&](const Value& object) {
      const Value* ref = object.Find("$ref");
      if (ref == nullptr) return;
      ++references;
      EXPECT_EQ(object.AsObject()->size(), 1U) << *ref->AsString();
      const std::string_view to = *ref->AsString();
      const size_t name = to.rfind('/') + 1;
      const std::string_view in = to.substr(0, name);
      EXPECT_TRUE(in == "#/components/schemas/" || in == "#/components/parameters/") << to;
      EXPECT_TRUE(codec::HasAt(document, "components",
                               in == "#/components/schemas/" ? "schemas" : "parameters",
                               to.substr(name)))
          << to;
    });
  }
  EXPECT_GT(references, 500U);
}

// kubectl asks for one or the other depending on the command, and accepts nothing else.
TEST(OpenApiV3, KindsAreAnObjectOnOperationsAndAnArrayOnSchemas) {
  for (const api::Kind* kind : api::AllKinds()) {
    SCOPED_TRACE(kind->kind);
    const Value& document = Documents().at(PathOf(*kind));
    const Value self =
        codec::Object{{"group", kind->group}, {"version", kind->version}, {"kind", kind->kind}};
    size_t operations = 0;
    ForEachOperation(document,
                     [&](std::string_view path, std::string_view, const Value& operation) {
                       ASSERT_NE(operation.Find(kKindKey), nullptr) << path;
                       ASSERT_NE(operation.Find(kKindKey)->AsObject(), nullptr) << path;
                       operations += *operation.Find(kKindKey) == self ? 1 : 0;
                     });
    EXPECT_GE(operations + 1, kind->verbs.size()) << "a watch is a list with a parameter";
    std::vector<std::string> schemas;
    for (const Member& schema : ObjectAt(document, "components", "schemas")) {
      const codec::Array& kinds = codec::ArrayAt(schema.value, kKindKey);
      if (std::count(kinds.begin(), kinds.end(), self) == 1) schemas.push_back(schema.key);
    }
    EXPECT_THAT(schemas, ElementsAre(kind->message->openapi_name));
  }
  const Value& options = Schema(Core(), "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  std::set<std::string> groups;
  for (const api::Kind* kind : api::AllKinds()) groups.emplace(kind->group);
  for (const Value& kind : codec::ArrayAt(options, kKindKey)) {
    EXPECT_EQ(StringAt(kind, "kind"), "DeleteOptions");
    EXPECT_EQ(groups.erase(std::string(StringAt(kind, "group"))), 1U);
  }
  EXPECT_THAT(groups, IsEmpty());
}

// Without these kubectl does not validate, dry-run or apply on the server.
TEST(OpenApiV3, PatchSaysWhatKubectlLooksFor) {
  for (const auto& [group, document] : Documents()) {
    ForEachOperation(document, [&](std::string_view path, std::string_view method,
                                   const Value& operation) {
      if (method != "patch") return;
      SCOPED_TRACE(path);
      std::vector<std::string_view> parameters;
      for (const Value& parameter : codec::ArrayAt(operation, "parameters")) {
        EXPECT_EQ(StringAt(parameter, "in"), "query");
        parameters.push_back(StringAt(parameter, "name"));
      }
      EXPECT_THAT(parameters, ElementsAre("dryRun", "fieldManager", "fieldValidation", "force"));
      std::vector<std::string> types;
      for (const Member& type : ObjectAt(operation, "requestBody", "content")) {
        types.push_back(type.key);
      }
      EXPECT_THAT(
          types, UnorderedElementsAre("application/json-patch+json", "application/merge-patch+json",
                                      "application/strategic-merge-patch+json",
                                      "application/apply-patch+yaml"));
    });
  }
}

/// Returns the operations ("get put") of each path of one resource.
std::map<std::string, std::string> MethodsOf(const Value& document, std::string_view plural) {
  std::map<std::string, std::string> methods;
  ForEachOperation(document, [&](std::string_view path, std::string_view method, const Value&) {
    const std::string text(path);
    const size_t at = text.find("/" + std::string(plural));
    if (at == text.npos) return;
    const std::string rest = text.substr(at + 1 + plural.size());
    if (!rest.empty() && rest != "/{name}" && !rest.starts_with("/{name}/")) return;
    std::string& list = methods[text];
    list += (list.empty() ? "" : " ") + std::string(method);
  });
  return methods;
}

TEST(OpenApiV3, PathsAreThoseThatAreServed) {
  EXPECT_THAT(MethodsOf(Core(), "services"),
              UnorderedElementsAre(
                  Pair("/api/v1/services", "get"),
                  Pair("/api/v1/namespaces/{namespace}/services", "get post delete"),
                  Pair("/api/v1/namespaces/{namespace}/services/{name}", "get put patch delete"),
                  Pair("/api/v1/namespaces/{namespace}/services/{name}/status", "get put patch")));
  EXPECT_THAT(MethodsOf(Core(), "namespaces"),
              UnorderedElementsAre(Pair("/api/v1/namespaces", "get post"),
                                   Pair("/api/v1/namespaces/{name}", "get put patch delete"),
                                   Pair("/api/v1/namespaces/{name}/finalize", "put"),
                                   Pair("/api/v1/namespaces/{name}/status", "get put patch")));
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases";
  EXPECT_THAT(MethodsOf(Documents().at("apis/coordination.k8s.io/v1"), "leases"),
              UnorderedElementsAre(Pair("/apis/coordination.k8s.io/v1/leases", "get"),
                                   Pair(leases, "get post delete"),
                                   Pair(leases + "/{name}", "get put patch delete")));
}

TEST(OpenApiV3, AKindThatIsOnlyReadIsNotPatched) {
  EXPECT_THAT(MethodsOf(Documents().at("apis/allocation.berth.io/v1alpha1"), "replicas"),
              Contains(Pair("/apis/allocation.berth.io/v1alpha1/replicas/{name}", "get")));
}

TEST(OpenApiV3, AKindThatIsOnlyCreatedHasNoMore) {
  static constexpr std::array<std::string_view, 1> kVerbs = {"create"};
  api::Kind review = api::kLeaseKind;
  review.verbs = kVerbs;
  const api::Kind* const kinds[] = {&review};
  const Value document = Parse(OpenApiV3(kinds).Find("apis/coordination.k8s.io/v1"));
  EXPECT_THAT(
      MethodsOf(document, "leases"),
      ElementsAre(Pair("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", "post")));
  EXPECT_TRUE(Schema(document, "io.k8s.api.coordination.v1.LeaseList").IsNull());
}

TEST(OpenApiV3, OperationsAreNamedOnceAndAsGeneratorsKnowThem) {
  std::map<std::string, std::string> actions;
  for (const auto& [group, document] : Documents()) {
    ForEachOperation(
        document, [&](std::string_view path, std::string_view, const Value& operation) {
          const std::string id(StringAt(operation, "operationId"));
          EXPECT_TRUE(actions.emplace(id, StringAt(operation, "x-kubernetes-action")).second) << id;
          EXPECT_FALSE(StringAt(operation, "description").empty()) << path;
          EXPECT_FALSE(ObjectAt(operation, "responses").empty()) << path;
        });
  }
  const std::map<std::string, std::string> expected = {
      {"listCoreV1ServiceForAllNamespaces", "list"},
      {"listCoreV1NamespacedService", "list"},
      {"createCoreV1NamespacedService", "post"},
      {"deleteCoreV1CollectionNamespacedService", "deletecollection"},
      {"readCoreV1NamespacedService", "get"},
      {"replaceCoreV1NamespacedServiceStatus", "put"},
      {"patchCoreV1NamespacedService", "patch"},
      {"deleteCoreV1Namespace", "delete"},
      {"replaceCoreV1NamespaceFinalize", "put"},
      {"listNetworkingV1ServiceCIDR", "list"},
      {"readCoordinationV1NamespacedLease", "get"}};
  for (const auto& [id, action] : expected) EXPECT_EQ(actions[id], action) << id;
}

TEST(OpenApiV3, AnswersAndBodiesAreOfTheRightKind) {
  const Value* item =
      codec::FindAt(Core(), "paths", "/api/v1/namespaces/{namespace}/services/{name}");
  const Value* items = codec::FindAt(Core(), "paths", "/api/v1/namespaces/{namespace}/services");
  ASSERT_TRUE(item != nullptr && items != nullptr);
  const auto answer = [](const Value& path, std::string_view method, std::string_view code) {
    const Value* schema =
        codec::FindAt(path, method, "responses", code, "content", "application/json", "schema");
    return schema == nullptr ? std::string() : WordOf(*schema);
  };
  EXPECT_EQ(answer(*items, "get", "200"), "io.k8s.api.core.v1.ServiceList");
  EXPECT_EQ(answer(*items, "post", "201"), "io.k8s.api.core.v1.Service");
  EXPECT_EQ(answer(*items, "delete", "200"), "io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  EXPECT_EQ(answer(*item, "get", "200"), "io.k8s.api.core.v1.Service");
  EXPECT_EQ(answer(*item, "patch", "201"), "io.k8s.api.core.v1.Service");
  const auto body = [](const Value& path, std::string_view method) {
    return WordOf(*codec::FindAt(path, method, "requestBody", "content", "*/*", "schema"));
  };
  EXPECT_EQ(body(*items, "post"), "io.k8s.api.core.v1.Service");
  EXPECT_EQ(body(*item, "put"), "io.k8s.api.core.v1.Service");
  EXPECT_EQ(body(*item, "delete"), "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  EXPECT_FALSE(codec::HasAt(*item, "get", "requestBody"));
}

TEST(OpenApiV3, SaysHowPartsAreMerged) {
  const Value& spec = Schema(Core(), "io.k8s.api.core.v1.ServiceSpec");
  const Value* ports = codec::FindAt(spec, "properties", "ports");
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(StringAt(*ports, "x-kubernetes-list-type"), "map");
  EXPECT_THAT(codec::ArrayAt(*ports, "x-kubernetes-list-map-keys"),
              ElementsAre(Value("port"), Value("protocol")));
  EXPECT_EQ(StringAt(*ports, "x-kubernetes-patch-merge-key"), "port");
  EXPECT_EQ(StringAt(*ports, "x-kubernetes-patch-strategy"), "merge");
  EXPECT_EQ(StringAt(spec, "properties", "selector", "x-kubernetes-map-type"), "atomic");
  const Value& meta = Schema(Core(), "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_EQ(StringAt(meta, "properties", "finalizers", "x-kubernetes-list-type"), "set");
  EXPECT_EQ(StringAt(meta, "properties", "managedFields", "x-kubernetes-list-type"), "atomic");
  EXPECT_FALSE(codec::HasAt(meta, "properties", "labels", "x-kubernetes-map-type"));
  EXPECT_EQ(StringAt(Schema(Core(), "io.k8s.api.core.v1.ObjectReference"), "x-kubernetes-map-type"),
            "atomic");
  const Value& port = Schema(Core(), "io.k8s.api.core.v1.ServicePort");
  EXPECT_EQ(StringAt(port, "properties", "protocol", "default"), "TCP");
  EXPECT_THAT(codec::ArrayAt(port, "required"), ElementsAre(Value("port")));
}

TEST(OpenApiV3, TypesThatAreNoMessages) {
  const Value& number_or_name = Schema(Core(), "io.k8s.apimachinery.pkg.util.intstr.IntOrString");
  EXPECT_EQ(StringAt(number_or_name, "format"), "int-or-string");
  EXPECT_EQ(codec::ArrayAt(number_or_name, "oneOf").size(), 2U);
  EXPECT_EQ(WordOf(Schema(Core(), "io.k8s.apimachinery.pkg.apis.meta.v1.Time")),
            "string/date-time");
  EXPECT_EQ(WordOf(Schema(Core(), "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1")), "object");
}

TEST(OpenApiV3, IndexNamesEveryDocumentByItsHash) {
  std::map<std::string, std::string> named;
  const Value index = Parse(&AllV3().Index());
  for (const Member& entry : ObjectAt(index, "paths")) {
    named[entry.key] = StringAt(entry.value, "serverRelativeURL");
  }
  ASSERT_EQ(named.size(), Documents().size());
  for (const auto& [path, document] : Documents()) {
    EXPECT_EQ(AllV3().Hash(path).size(), 128U);
    EXPECT_EQ(named[path], "/openapi/v3/" + path + "?hash=" + std::string(AllV3().Hash(path)));
    EXPECT_EQ(AllV3().Find(path)->etag, "\"" + std::string(AllV3().Hash(path)) + "\"");
    EXPECT_EQ(AllV3().Find(path)->content_type, "application/json");
    EXPECT_EQ(StringAt(document, "openapi"), "3.0.0");
  }
  EXPECT_FALSE(AllV3().Index().etag.empty());
  for (const char* unknown : {"", "api", "apis/v1", "api/v1/", "/api/v1", "apis/nope.k8s.io/v1"}) {
    EXPECT_EQ(AllV3().Find(unknown), nullptr) << unknown;
    EXPECT_THAT(AllV3().Hash(unknown), IsEmpty()) << unknown;
  }
}

TEST(OpenApiV3, HashesFollowTheContent) {
  const OpenApiV3 again(api::AllKinds());
  EXPECT_EQ(again.Index().etag, AllV3().Index().etag);

  api::Message message = *api::kLeaseKind.message;
  message.description = "Something else.";
  api::Kind lease = api::kLeaseKind;
  lease.message = &message;
  std::vector<const api::Kind*> kinds(api::AllKinds().begin(), api::AllKinds().end());
  *std::find(kinds.begin(), kinds.end(), &api::kLeaseKind) = &lease;
  const OpenApiV3 changed(kinds);
  EXPECT_NE(changed.Hash("apis/coordination.k8s.io/v1"),
            AllV3().Hash("apis/coordination.k8s.io/v1"));
  EXPECT_EQ(changed.Hash("api/v1"), AllV3().Hash("api/v1"));
  EXPECT_NE(changed.Index().etag, AllV3().Index().etag);
}

// kubectl downloads the document of a group for every object that it validates, unless cached.
TEST(OpenApiV3, IsSmall) {
  for (const auto& [path, document] : Documents()) {
    const bool has_many_kinds = path == "api/v1" || path.starts_with("apis/allocation.berth.io/");
    EXPECT_LT(AllV3().Find(path)->body->size(), has_many_kinds ? 110'000U : 50'000U) << path;
  }
}

}  // namespace
}  // namespace berth::server
