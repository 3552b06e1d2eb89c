#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::server {
namespace {

using ::testing::HasSubstr;

ListOptions List(std::string_view query) {
  const auto options = ParseListOptions(Query(query));
  EXPECT_TRUE(options) << query << ": " << (options ? "" : options.error().message);
  return options.value_or(ListOptions{});
}

base::Error ListError(std::string_view query) {
  const auto options = ParseListOptions(Query(query));
  EXPECT_FALSE(options) << query;
  return options ? base::Error{} : options.error();
}

TEST(Query, IsDecodedAsGoDoesIt) {
  const Query query("a=1&b=x%20y+z&c&a=2&bad=%zz&%6e=v&semi;colon=1&=empty");
  EXPECT_EQ(query.Get("a"), "1");
  EXPECT_EQ(query.All("a").size(), 2U);
  EXPECT_EQ(query.Get("b"), "x y z");
  EXPECT_NE(query.Find("c"), nullptr);
  EXPECT_EQ(query.Find("bad"), nullptr);
  EXPECT_EQ(query.Get("n"), "v");
  EXPECT_EQ(query.Find("semi;colon"), nullptr);
}

TEST(Query, FlagsAreSetUnlessTheySayNo) {
  const Query query("watch&one=1&no=0&false=False&text=x&none=");
  for (const char* name : {"watch", "one", "text", "none"}) EXPECT_TRUE(query.Flag(name)) << name;
  for (const char* name : {"no", "false", "missing"}) EXPECT_FALSE(query.Flag(name)) << name;
}

TEST(Query, ManyParametersAreCutShort) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a=1&";
  EXPECT_EQ(Query(text).All("a").size(), Query::kMaxParameters);
}

TEST(ListOptions, WhatIsAsked) {
  const ListOptions options = List(
      "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=500&resourceVersion=7&"
      "resourceVersionMatch=Exact&timeoutSeconds=30");
  EXPECT_EQ(options.label_selector, "a=b");
  EXPECT_EQ(options.field_selector, "metadata.name=x");
  EXPECT_EQ(options.limit, 500);
  EXPECT_EQ(options.version, 7);
  EXPECT_EQ(options.match, VersionMatch::kExact);
  EXPECT_EQ(options.timeout, std::chrono::seconds(30));
  EXPECT_EQ(List("limit=-1").limit, 0) << "no limit";
  EXPECT_EQ(List("limit=%2B1").limit, 1);
  EXPECT_EQ(List("").version, std::nullopt);
}

TEST(ListOptions, WhatDoesNotGoTogether) {
  for (const char* query :
       {"resourceVersionMatch=Exact", "resourceVersionMatch=Bogus&resourceVersion=5",
        "resourceVersion=0&resourceVersionMatch=Exact", "sendInitialEvents=true",
        "continue=x&resourceVersionMatch=Exact&resourceVersion=5", "watch=1&sendInitialEvents=true",
        "watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1"}) {
    const base::Error error = ListError(query);
    EXPECT_EQ(error.reason, base::Reason::kInvalid) << query;
    EXPECT_THAT(error.message, HasSubstr("ListOptions.meta.k8s.io \"\" is invalid: ")) << query;
    ASSERT_TRUE(error.details);
    EXPECT_EQ(error.details->kind, "ListOptions");
  }
  EXPECT_EQ(ListError("limit=x").message, "strconv.ParseInt: parsing \"x\": invalid syntax");
  EXPECT_EQ(ListError("limit=").message, "strconv.ParseInt: parsing \"\": invalid syntax");
  EXPECT_EQ(ListError("continue=x&resourceVersion=5").message,
            "specifying resource version is not allowed when using continue");
  EXPECT_THAT(ListError("resourceVersion=abc").message, HasSubstr("invalid resource version"));
  EXPECT_EQ(ListError("watch=1&resourceVersion=abc").reason, base::Reason::kUnknown)
      << "an internal error for a watch, as in Kubernetes";
}

TEST(WriteOptions, DryRunAndValidation) {
  const auto options = ParseWriteOptions(Query("dryRun=All&fieldValidation=Strict&fieldManager=me"),
                                         "CreateOptions");
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->dry_run);
  EXPECT_EQ(options->validation, FieldValidation::kStrict);
  EXPECT_EQ(options->field_manager, "me");
  EXPECT_EQ(ParseWriteOptions(Query(""), "CreateOptions")->validation, FieldValidation::kWarn);
  EXPECT_FALSE(ParseWriteOptions(Query("dryRun=Some"), "CreateOptions"));
  EXPECT_FALSE(ParseWriteOptions(Query("fieldValidation=strict"), "CreateOptions"));
  EXPECT_FALSE(ParseWriteOptions(Query("fieldManager=" + std::string(129, 'x')), "CreateOptions"));
  EXPECT_THAT(ParseWriteOptions(Query("fieldManager=a%0ab"), "CreateOptions").error().message,
              HasSubstr("fieldManager: Invalid value: \"a\\nb\": invalid character U+000A"));
  EXPECT_THAT(
      ParseWriteOptions(Query("fieldManager=%c3%a9%e2%80%ae"), "CreateOptions").error().message,
      HasSubstr("invalid character U+202E (at position 2)"));
  EXPECT_EQ(ParseWriteOptions(Query("fieldManager=a%ff"), "CreateOptions")->field_manager,
            "a\uFFFD");
  // Each byte that is not text becomes three, and the resulting name must not be too long.
  std::string bytes = "fieldManager=";
  for (int i = 0; i < 43; ++i) bytes += "%ff";
  EXPECT_THAT(ParseWriteOptions(Query(bytes), "CreateOptions").error().message,
              HasSubstr("fieldManager: Too long: may not be more than 128 bytes"));
}

TEST(WriteOptions, AllThatIsWrongIsSaid) {
  const auto why = [](const std::string& query) {
    const auto options = ParseWriteOptions(Query(query), "CreateOptions");
    EXPECT_FALSE(options) << query;
    return options ? "" : options.error().message;
  };
  const std::string begin = "CreateOptions.meta.k8s.io \"\" is invalid: ";
  EXPECT_EQ(why("dryRun=All&dryRun=Some"),
            begin + "dryRun: Unsupported value: [\"All\",\"Some\"]: supported values: \"All\"");
  EXPECT_EQ(why("dryRun="), begin + "dryRun: Unsupported value: [\"\"]: supported values: \"All\"");
  EXPECT_EQ(why("fieldValidation=no&dryRun=x&fieldManager=a%07%e2%80%ae%08"),
            begin +
                "[fieldManager: Invalid value: \"a\\a\\u202e\\b\": invalid character U+0007 (at "
                "position 1), fieldManager: Invalid value: \"a\\a\\u202e\\b\": invalid character "
                "U+202E (at position 2), fieldManager: Invalid value: \"a\\a\\u202e\\b\": invalid "
                "character U+0008 (at position 5), dryRun: Unsupported value: [\"x\"]: supported "
                "values: \"All\", fieldValidation: Unsupported value: \"no\": supported values: "
                "\"\", \"Ignore\", \"Strict\", \"Warn\"]");
  const auto patch = ParsePatchOptions(Query("force&dryRun=x"), false);
  ASSERT_FALSE(patch);
  EXPECT_EQ(patch.error().causes.size(), 2U);
  EXPECT_EQ(patch.error().details->kind, "PatchOptions");
}

TEST(Timeout, IsAGoDuration) {
  const auto of = [](const char* text) {
    return ParseTimeout(Query(std::string("timeout=") + text));
  };
  EXPECT_EQ(*of("5s"), std::chrono::milliseconds(5000));
  EXPECT_EQ(*of("1.5s"), std::chrono::milliseconds(1500));
  EXPECT_EQ(*of("500ms"), std::chrono::milliseconds(500));
  EXPECT_EQ(*of("1m"), std::chrono::milliseconds(60'000));
  EXPECT_EQ(*of("0"), std::nullopt) << "the server's own timeout";
  EXPECT_EQ(*of("2m"), std::nullopt) << "longer than the server allows";
  EXPECT_EQ(*of("-5s"), std::nullopt) << "also the server's own timeout";
  EXPECT_EQ(*of("%2B1m.5s0.25s"), std::nullopt) << "more than a minute";
  EXPECT_EQ(*of("1.s.5s1%c2%b5s"), std::chrono::milliseconds(1500));
  const auto why = [&](const char* text) { return of(text).error().message; };
  for (const char* bad : {"abc", "-", "s", "nans", "-infs", ".s", "99999999h"}) {
    ASSERT_FALSE(of(bad)) << bad;
    EXPECT_THAT(why(bad), HasSubstr(std::string("time: invalid duration \"") + bad)) << bad;
  }
  EXPECT_THAT(why("5"), HasSubstr("time: missing unit in duration \"5\""));
  EXPECT_THAT(why("1m-2s"), HasSubstr("time: unknown unit \"m-\" in duration \"1m-2s\""));
  EXPECT_THAT(why("1x"), HasSubstr("time: unknown unit \"x\" in duration \"1x\""));
  EXPECT_THAT(why("1e3s"), HasSubstr("time: unknown unit \"e\" in duration \"1e3s\""));
}

TEST(ContinueTokens, ComeBackAsTheyWent) {
  const auto token =
      ReadContinueToken(WriteContinueToken({.version = 123, .after = "shop/web \""}));
  ASSERT_TRUE(token);
  EXPECT_EQ(token->version, 123);
  EXPECT_EQ(token->after, "shop/web \"");
  EXPECT_EQ(ReadContinueToken(WriteContinueToken({.version = -1, .after = "a"}))->version, -1)
      << "the current state";
}

TEST(ContinueTokens, BadOnesAreRefused) {
  EXPECT_EQ(
      ReadContinueToken("garbage").error().message,
      "invalid continue token: continue key is not valid: invalid character '\\u0081' looking "
      "for beginning of value");
  for (const char* bad :
       {"", "!", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0"}) {
    const auto token = ReadContinueToken(bad);
    ASSERT_FALSE(token) << bad;
    EXPECT_EQ(token.error().reason, base::Reason::kBadRequest) << bad;
  }
}

}  // namespace
}  // namespace berth::server
