#include "berth/plan/plan_document.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "codec/json.h"

namespace berth::cli {
namespace {

/// Returns the JSON of a plan, without blanks.
std::string Document(const std::vector<std::string>& ranges, std::string_view used = "") {
  auto plan = PlanRanges(ranges);
  EXPECT_TRUE(plan.has_value());
  if (!plan) return {};
  if (!used.empty()) {
    base::Result<Used> read = ReadUsed(used);
    EXPECT_TRUE(read.has_value());
    if (read) AddUsage(*plan, *std::move(read));
  }
  return codec::WriteJson(PlanDocument(*plan, "used.txt"));
}

TEST(PlanDocumentTest, HasEveryKeyInItsPlace) {
  EXPECT_EQ(Document({"10.0.0.0/27"}),
            R"({"ranges":[{"range":"10.0.0.0/27","kind":"IPv4","first":"10.0.0.0",)"
            R"("last":"10.0.0.31","size":32,"sizeText":"32","usable":30,"usableText":"30",)"
            R"("staticBand":{"first":"10.0.0.1","last":"10.0.0.16","size":16,"sizeText":"16",)"
            R"("emptyReason":null},)"
            R"("dynamicBand":{"first":"10.0.0.17","last":"10.0.0.30","size":14,"sizeText":"14",)"
            R"("emptyReason":null},)"
            R"("firstAddress":{"value":"10.0.0.1","band":"static","reason":null},)"
            R"("tenthAddress":{"value":"10.0.0.10","band":"static","reason":null},)"
            R"("unusable":[{"first":"10.0.0.0","last":"10.0.0.0","size":1,"sizeText":"1",)"
            R"("reason":"network address"},)"
            R"({"first":"10.0.0.31","last":"10.0.0.31","size":1,"sizeText":"1",)"
            R"("reason":"broadcast address"}],)"
            R"("advice":"Safe to hard-code: 10.0.0.1 to 10.0.0.16; a dynamic request takes one of )"
            R"(these only when the dynamic band is full.","usage":null}],"used":null})");
}

TEST(PlanDocumentTest, ListsWhatIsInUse) {
  const std::string document =
      Document({"30000-30016"}, "30000 a\n30000\n30016\n10.0.0.1\n80 web\n");
  EXPECT_NE(
      document.find(
          R"("usage":{"staticBand":{"size":16,"sizeText":"16","used":1,"usedText":"1","free":15,)"
          R"("freeText":"15","usedPercent":6.25,"values":[{"value":"30000",)"
          R"("uses":[{"owner":"a","line":1},{"owner":null,"line":2}]}],)"
          R"("freeRuns":[{"first":"30001","last":"30015","size":15,"sizeText":"15"}]},)"
          R"("dynamicBand":{"size":1,"sizeText":"1","used":1,"usedText":"1","free":0,)"
          R"("freeText":"0","usedPercent":100.0,)"
          R"("values":[{"value":"30016","uses":[{"owner":null,"line":3}]}],"freeRuns":[]},)"
          R"("usedTwice":[{"value":"30000","uses":[{"owner":"a","line":1},)"
          R"({"owner":null,"line":2}]}]})"),
      std::string::npos)
      << document;
  EXPECT_NE(document.find(R"("used":{"source":"used.txt","format":"List","serviceCount":null,)"
                          R"("ignoredObjectCount":null,"valueCount":4,"usedTwiceCount":1,)"
                          R"("outside":[{"value":"80","kind":"NodePort",)"
                          R"("reason":"in none of the ranges",)"
                          R"("uses":[{"owner":"web","line":5}]}],)"
                          R"("unchecked":[{"kind":"IPv4","valueCount":1}]})"),
            std::string::npos)
      << document;
}

TEST(PlanDocumentTest, LargeNumbersSaturateAndKeepTheirText) {
  const std::string document = Document({"::/0"});
  EXPECT_NE(document.find(R"("size":9223372036854775807,)"
                          R"("sizeText":"340282366920938463463374607431768211456")"),
            std::string::npos);
  EXPECT_NE(document.find(R"("usable":9223372036854775807,)"), std::string::npos);
}

TEST(PlanDocumentTest, EmptyBandsHaveTheSameKeys) {
  const std::string empty = R"({"first":null,"last":null,"size":0,"sizeText":"0","emptyReason":)";
  EXPECT_NE(Document({"30000-30015"}).find(R"("staticBand":)" + empty + R"("TooFewValues"})"),
            std::string::npos);
  EXPECT_NE(Document({"0-16"}).find(R"("dynamicBand":)" + empty + R"("StaticBandTakesAll"})"),
            std::string::npos);
  EXPECT_NE(Document({"10.0.0.0/31"}).find(R"("dynamicBand":)" + empty + R"("NothingUsable"})"),
            std::string::npos);
  EXPECT_NE(Document({"0.0.0.0/1"}).find(R"("staticBand":)" + empty + R"("WidePrefix"})"),
            std::string::npos);
  EXPECT_NE(Document({"30000-30015"}).find(R"("firstAddress":null)"), std::string::npos);
}

TEST(PlanDocumentTest, CountsServices) {
  const std::string document = Document({"30000-32767"}, R"([{"kind":"Pod"}])");
  EXPECT_NE(document.find(R"("format":"Services","serviceCount":0,"ignoredObjectCount":1)"),
            std::string::npos);
}

}  // namespace
}  // namespace berth::cli
