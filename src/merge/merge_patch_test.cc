#include "merge/merge_patch.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "codec/json.h"

namespace berth::merge {
namespace {

using codec::Object;
using codec::Value;

struct MergePatchCase {
  std::string_view document;
  std::string_view patch;
  std::string_view result;
};

// The first fifteen are from the RFC's appendix.
constexpr MergePatchCase kCases[] = {
    {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
    {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
    {R"({"a":"b"})", R"({"a":null})", R"({})"},
    {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
    {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
    {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
    {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
    {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
    {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
    {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
    {R"({"a":"foo"})", R"(null)", R"(null)"},
    {R"({"a":"foo"})", R"("bar")", R"("bar")"},
    {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
    {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
    {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
    {R"({"a":1})", R"({})", R"({"a":1})"},
    {R"({"a":1})", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
    {R"({"a":[1]})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{"b":null}]})"},
    {R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":1}})"},
};

TEST(MergePatch, Cases) {
  for (const MergePatchCase& each : kCases) {
    SCOPED_TRACE(each.patch);
    Value document = codec::ParseJson(each.document).value();
    ApplyMergePatch(document, codec::ParseJson(each.patch).value());
    EXPECT_EQ(document, codec::ParseJson(each.result).value()) << codec::WriteJson(document);
  }
}

TEST(MergePatch, ManyDeletionsAreQuick) {
  Object document;
  Object patch;
  for (int i = 0; i < 200'000; ++i) {
    document.Set(std::to_string(i), i);
    if (i % 2 == 0) patch.Set(std::to_string(i), nullptr);
  }
  Value value = document;
  ApplyMergePatch(value, patch);
  EXPECT_EQ(value.AsObject()->size(), 100'000);
  EXPECT_EQ(value.Find("2"), nullptr);
  EXPECT_NE(value.Find("3"), nullptr);
}

}  // namespace
}  // namespace berth::merge
