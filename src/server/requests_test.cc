// What is the same for all requests; and deletecollection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temp_dir.h"
#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RequestsTest : public ServerTest {
 protected:
  /// While set, the store holds or fails commits.
  bool fault_ = false;
};

TEST_F(RequestsTest, EachLeavesOneLineInTheAuditLog) {
  const base::TempDir directory;
  const std::string file = directory.Path() + "/audit.jsonl";
  const auto audit = obs::AuditLog::Open({.path = file}, store_.log);
  ASSERT_TRUE(audit);
  Open({.audit = audit->get()});
  PutService("a");
  Get(Services() + "?limit=5");
  Get(Services() + "/no");
  Get("/version", {.token = ""});
  Get(Services(), {.token = "wrong"});
  Get(Services(), {.token = "guest"});
  Get(Services() + "?watch=1");
  Delete(Services());
  (*audit)->Flush();
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    const codec::Value record = ParseJson(line);
    lines.push_back(std::string(codec::StringAt(record, "user")) + " " +
                    std::string(codec::StringAt(record, "verb")) + " " +
                    std::string(codec::StringAt(record, "method")) + " " +
                    std::string(codec::StringAt(record, "uri")) + " " +
                    std::to_string(codec::IntAt(record, "code")));
    EXPECT_EQ(codec::StringAt(record, "time"), "2026-11-15T04:35:00.000Z");
    EXPECT_EQ(codec::StringAt(record, "source"), "127.0.0.1:50312");
    EXPECT_EQ(codec::StringAt(record, "id").size(), 36U);
  }
  const std::string services = Services();
  EXPECT_THAT(
      lines,
      ElementsAre(
          "admin create POST /api/v1/namespaces 201", "admin update PUT " + services + "/a 201",
          "admin list GET " + services + "?limit=5 200", "admin get GET " + services + "/no 404",
          "system:anonymous get GET /version 200", " list GET " + services + " 401",
          "guest list GET " + services + " 403", "admin watch GET " + services + "?watch=1 200",
          "admin deletecollection DELETE " + services + " 200"));
  sink_->Clear();
  parts_.reset();
}

TEST_F(RequestsTest, AnAnswerNamesItsAuditRecord) {
  EXPECT_THAT(Get(Services()).Header("audit-id"), SizeIs(36));
  EXPECT_THAT(Get(Services() + "/no").Header("audit-id"), SizeIs(36));
  EXPECT_NE(Get(Services()).Header("audit-id"), Get(Services()).Header("audit-id"));
  EXPECT_EQ(Get(Services()).Header("cache-control"), "no-cache, private");
}

TEST_F(RequestsTest, TooManyWritesAtOnceAreToldToComeBack) {
  Open({.api = {.max_reads = 10, .max_writes = 2}, .fault = [this](const store::Txn&) {
          return fault_ ? store::Fault::kHold : store::Fault::kNone;
        }});
  fault_ = true;
  std::vector<uint32_t> sent;
  for (const char* name : {"a", "b", "c"}) {
    sent.push_back(Send("POST " + Services(), Quoted(ServiceBody(name))));
  }
  size_t waiting = 0;
  Reply refused;
  for (const uint32_t stream : sent) {
    const Reply reply = Answer(stream);
    if (reply.code == 0) ++waiting;
    if (reply.code != 0) refused = reply;
  }
  EXPECT_GE(waiting, 1U);
  EXPECT_LE(waiting, 2U);
  EXPECT_EQ(refused.code, 429) << refused.body;
  EXPECT_EQ(refused.Text("reason"), "TooManyRequests");
  EXPECT_EQ(refused.Header("retry-after"), "1");
  EXPECT_EQ(codec::IntAt(refused.Json(), "details", "retryAfterSeconds"), 1);
  EXPECT_EQ(Get(Services()).code, 200) << "reads have their own slots";
  fault_ = false;
  while (store_.engine->Release()) PumpAll();
  EXPECT_EQ(Answer(sent[0]).code, 201);
  EXPECT_EQ(Post(Services(), ServiceBody("d")).code, 201) << "and the slots are free again";
}

TEST_F(RequestsTest, WatchesTakeNoPlace) {
  Open({.api = {.max_reads = 2, .max_writes = 2}});
  std::vector<Stream> watches;
  for (int i = 0; i < 20; ++i) watches.emplace_back(Get(Services() + "?watch=1"));
  EXPECT_EQ(Get(Services()).code, 200);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(Get(Services() + "/no").code, 404) << "the slot is released each time";
}

TEST_F(RequestsTest, AWriteThatTakesTooLongIsATimeout) {
  Open({.fault = [this](const store::Txn&) {
    return fault_ ? store::Fault::kHold : store::Fault::kNone;
  }});
  fault_ = true;
  const uint32_t stream = Send("POST " + Services(), Quoted(ServiceBody("a")));
  EXPECT_EQ(Answer(stream).code, 0);
  Advance(std::chrono::seconds(35));
  const Reply late = Answer(stream);
  EXPECT_EQ(late.code, 504);
  EXPECT_EQ(late.Message(), "Timeout: request did not complete within the allotted timeout");
  while (store_.engine->Release()) PumpAll();
}

TEST_F(RequestsTest, DeleteCollectionDeletesWhatIsSelected) {
  PutService("a", "'app':'web'");
  PutService("b", "'app':'web'");
  PutService("c");
  const Reply dry = Delete(Services() + "?labelSelector=app=web&dryRun=All");
  EXPECT_THAT(dry.Names(), ElementsAre("a", "b"));
  EXPECT_THAT(Get(Services()).Names(), SizeIs(3));
  const Reply gone = Delete(Services() + "?labelSelector=app=web");
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.Text("kind"), "ServiceList");
  EXPECT_THAT(gone.Names(), ElementsAre("a", "b"));
  EXPECT_THAT(Get(Services()).Names(), ElementsAre("c"));
  EXPECT_THAT(Delete(Services() + "?fieldSelector=metadata.name=c").Names(), ElementsAre("c"));
  const Reply none = Delete(Services());
  EXPECT_EQ(none.code, 200);
  EXPECT_THAT(none.Names(), IsEmpty());
}

TEST_F(RequestsTest, DeleteCollectionWithALimitSaysWhatIsLeft) {
  for (const char* name : {"a", "b", "c"}) PutService(name);
  const Reply gone = Delete(Services() + "?limit=1");
  EXPECT_THAT(gone.Names(), ElementsAre("a"));
  EXPECT_EQ(codec::IntAt(gone.Json(), "metadata", "remainingItemCount"), 2);
  EXPECT_NE(codec::StringAt(gone.Json(), "metadata", "continue"), "");
  EXPECT_THAT(Get(Services()).Names(), ElementsAre("b", "c"));
}

TEST_F(RequestsTest, DeleteCollectionMarksWhatHasFinalizers) {
  Post(Services(),
       "{'metadata':{'name':'a','finalizers':['ex.io/a']},'spec':{'ports':[{'port':80}]}}");
  PutService("b");
  EXPECT_THAT(Delete(Services()).Names(), ElementsAre("a", "b"));
  EXPECT_THAT(Get(Services()).Names(), ElementsAre("a"));
  EXPECT_THAT(Get(Services() + "/a").body, HasSubstr("deletionTimestamp"));
}

TEST_F(RequestsTest, DeleteCollectionOfMoreThanMayBeUnderWay) {
  constexpr int kMany = 600;
  for (int i = 0; i < kMany; ++i) PutService("s" + std::to_string(i));
  EXPECT_THAT(Delete(Services() + "?dryRun=All").Names(), SizeIs(kMany));
  EXPECT_THAT(Delete(Services()).Names(), SizeIs(kMany));
  EXPECT_THAT(Get(Services()).Names(), IsEmpty());
}

TEST_F(RequestsTest, DeleteCollectionEndsWithTheFirstError) {
  Open({.fault = [this](const store::Txn& txn) {
    const bool third = fault_ && !txn.deletes.empty() && txn.deletes[0].ends_with("/c");
    return third ? store::Fault::kFail : store::Fault::kNone;
  }});
  for (const char* name : {"a", "b", "c", "d"}) PutService(name);
  fault_ = true;
  const Reply failed = Delete(Services());
  EXPECT_GE(failed.code, 500) << failed.body;
  EXPECT_EQ(failed.Text("kind"), "Status");
  EXPECT_THAT(Get(Services()).Names(), ::testing::Contains("c"));
}

TEST_F(RequestsTest, DeleteCollectionIsNotForAll) {
  EXPECT_EQ(Delete("/api/v1/services").code, 405) << "across namespaces";
  EXPECT_EQ(Delete("/api/v1/namespaces").code, 405);
  const Reply refused = Delete("/api/v1/services");
  EXPECT_EQ(refused.Text("reason"), "MethodNotAllowed");
  EXPECT_EQ(Delete(Services() + "?fieldSelector=spec.bogus=c").code, 400);
  EXPECT_EQ(Delete(Services(), "{'propagationPolicy':'Bogus'}").code, 422);
}

TEST_F(RequestsTest, WhoMayWhat) {
  const struct {
    const char* token;
    const char* path;
    int code;
  } cases[] = {
      {"", "/version", 200},
      {"", "/livez", 200},
      {"", "/api", 401},
      {"", "/api/v1/namespaces/shop/services", 401},
      {"guest", "/api", 200},
      {"guest", "/openapi/v3", 200},
      {"guest", "/api/v1/services", 403},
      {"wrong", "/version", 401},
      {"admin", "/api/v1/services", 200},
  };
  for (const auto& [token, path, code] : cases) {
    EXPECT_EQ(Get(path, {.token = token}).code, code) << token << " " << path;
  }
  EXPECT_EQ(Get("/api/v1/namespaces/shop/services", {.token = "guest"}).Message(),
            "services is forbidden: User \"guest\" cannot list resource \"services\" in API group "
            "\"\" in the namespace \"shop\"");
}

}  // namespace
}  // namespace berth::server::testing
