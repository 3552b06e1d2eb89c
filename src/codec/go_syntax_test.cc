#include "codec/go_syntax.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::codec {
namespace {

TEST(GoSyntax, WhatGoAccepts) {
  for (const char* text : {"{}", "[]", " [ 1 , -0.5e+3 , \"a\\u00e9\\n\" , true , false , null ] ",
                           R"({"a":{"b":[{}]},"c":0})", "\"x\"", "0", "1e5"}) {
    EXPECT_EQ(GoSyntaxError(text), std::nullopt) << text;
  }
}

TEST(GoSyntax, Sentences) {
  const struct {
    std::string_view text;
    std::string_view says;
  } rows[] = {
      {"", "unexpected end of JSON input"},
      {"  ", "unexpected end of JSON input"},
      {R"({"apiVersion":"v1","kind":"Service")", "unexpected end of JSON input"},
      {"[1,", "unexpected end of JSON input"},
      {R"({"a)", "unexpected end of JSON input"},
      {R"({"a\)", "unexpected end of JSON input"},
      {R"("\u12)", "unexpected end of JSON input"},
      {"-", "unexpected end of JSON input"},
      {"1.", "unexpected end of JSON input"},
      {"tru", "unexpected end of JSON input"},
      {"not json", "invalid character 'o' in literal null (expecting 'u')"},
      {"trux", "invalid character 'x' in literal true (expecting 'e')"},
      {"fa1", "invalid character '1' in literal false (expecting 'l')"},
      {"hello", "invalid character 'h' looking for beginning of value"},
      {"'a'", "invalid character '\\'' looking for beginning of value"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{,}", "invalid character ',' looking for beginning of object key string"},
      {R"({"a":1,})", "invalid character '}' looking for beginning of object key string"},
      {R"({"a" 1})", "invalid character '1' after object key"},
      {R"({"a":1 "b"})", "invalid character '\"' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"01", "invalid character '1' after top-level value"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1ex", "invalid character 'x' in exponent of numeric literal"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {R"("\x")", "invalid character 'x' in string escape code"},
      {R"("\u12g4")", "invalid character 'g' in \\u hexadecimal character escape"},
      {"\xC3\xA9", "invalid character 'Ã' looking for beginning of value"},
  };
  for (const auto& row : rows) EXPECT_EQ(GoSyntaxError(row.text), row.says) << row.text;
  EXPECT_EQ(GoSyntaxError(std::string_view("\0", 1)),
            "invalid character '\\x00' looking for beginning of value");
}

TEST(GoSyntax, DepthIsBoundedAsInGo) {
  const std::string deep(10'000, '[');
  EXPECT_EQ(GoSyntaxError(deep), "unexpected end of JSON input");
  EXPECT_EQ(GoSyntaxError(deep + "["), "exceeded max depth");
}

}  // namespace
}  // namespace berth::codec
