#include "codec/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <regex.h>
#include <yaml.h>

#include <iterator>
#include <sstream>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "codec/json.h"
#include "codec/testing/codec_kit.h"
#include "codec/yaml_read.h"
#include "codec/yaml_resolve.h"

namespace berth::codec {
namespace {

// The rules for plain scalars, verbatim: yaml.org/type for YAML 1.1 (with its expression for floats
// corrected to allow only one point), the core schema of YAML 1.2, and Go's floats.
constexpr const char* kResolvers =
    "^(~|null|Null|NULL|"
    "y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|"
    "[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|"
    "[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+|0o[0-7]+|[-+]?[0-9]+|"
    "[-+]?([0-9][0-9_]*)?\\.[0-9_]*[0-9][0-9_]*([eE][-+][0-9]+)?|"
    "[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)|"
    "[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?|"
    "[0-9]{4}-[0-9]{2}-[0-9]{2}|"
    "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?"
    "([ \t]*Z|[ \t]*[-+][0-9]{1,2}(:[0-9]{2})?)?|"
    "<<|=)$";

// POSIX expressions, because g++ 12 warns about the internals of std::regex under a sanitizer.
class Resolvers {
 public:
  Resolvers() { EXPECT_EQ(regcomp(&compiled_, kResolvers, REG_EXTENDED | REG_NOSUB), 0); }
  ~Resolvers() { regfree(&compiled_); }
  Resolvers(const Resolvers&) = delete;
  Resolvers& operator=(const Resolvers&) = delete;

  bool Match(const std::string& text) const {
    if (text.empty()) return true;
    if (text.find('\0') != std::string::npos) return false;
    return regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_;
};

bool MatchesAResolver(const std::string& text) {
  static const Resolvers resolvers;
  return resolvers.Match(text);
}

// Parses YAML with libyaml's parser. It does not understand what WriteYaml never writes (anchors,
// tags). A plain scalar that is not a string must be one that JSON has too.
class Reader {
 public:
  explicit Reader(const std::string& text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Reader() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Value ReadAll() {
    Expect(YAML_STREAM_START_EVENT);
    Expect(YAML_DOCUMENT_START_EVENT);
    Next();
    const Value value = Read();
    Expect(YAML_DOCUMENT_END_EVENT);
    Expect(YAML_STREAM_END_EVENT);
    return failed_ ? Value("not read back") : value;
  }

 private:
  void Next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) == 0) failed_ = true;
  }

  void Expect(yaml_event_type_t type) {
    Next();
    if (event_.type != type) failed_ = true;
  }

  Value Read() {
    if (event_.type == YAML_SCALAR_EVENT) return ReadScalar();
    if (event_.type == YAML_SEQUENCE_START_EVENT) {
      Array array;
      for (Next(); !failed_ && event_.type != YAML_SEQUENCE_END_EVENT; Next()) {
        array.push_back(Read());
      }
      return array;
    }
    Object object;
    for (Next(); !failed_ && event_.type != YAML_MAPPING_END_EVENT; Next()) {
      const Value key = Read();
      Next();
      object.Set(key.AsString() != nullptr ? *key.AsString() : "not a string", Read());
    }
    return object;
  }

  Value ReadScalar() {
    const auto& scalar = event_.data.scalar;
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (scalar.style != YAML_PLAIN_SCALAR_STYLE || !MatchesAResolver(text)) return text;
    return ParseJson(text).value_or(Value("resolved to something JSON does not have"));
  }

  yaml_parser_t parser_;
  yaml_event_t event_ = {};
  bool failed_ = false;
};

Value ReadBack(const Value& value) { return Reader(WriteYaml(value)).ReadAll(); }

TEST(WriteYaml, LaysOutAsKubectlDoes) {
  const Value service = Object{
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata", Object{{"name", "web"}, {"annotations", Object()}, {"finalizers", Array()}}},
      {"spec", Object{{"clusterIPs", Array{"10.96.0.10", "fd00:10:96::a"}},
                      {"ports", Array{Object{{"name", "http"}, {"port", 80}},
                                      Object{{"port", 443}, {"targetPort", "https"}}}},
                      {"sessionAffinity", "None"}}},
      {"matrix", Array{Array{1, 2}, Array{}}},
      {"status", nullptr},
  };
  EXPECT_EQ(WriteYaml(service), R"(apiVersion: v1
kind: Service
matrix:
- - 1
  - 2
- []
metadata:
  annotations: {}
  finalizers: []
  name: web
spec:
  clusterIPs:
  - 10.96.0.10
  - fd00:10:96::a
  ports:
  - name: http
    port: 80
  - port: 443
    targetPort: https
  sessionAffinity: None
status: null
)");
}

TEST(WriteYaml, ScalarsAndEmptyContainersAsDocuments) {
  EXPECT_EQ(WriteYaml("text"), "text\n");
  EXPECT_EQ(WriteYaml(Object()), "{}\n");
  EXPECT_EQ(WriteYaml(Array()), "[]\n");
  EXPECT_EQ(WriteYaml(nullptr), "null\n");
  EXPECT_EQ(WriteYaml(Array{1, -2, 2.5, true, ~uint64_t{0}}),
            "- 1\n- -2\n- 2.5\n- true\n- 18446744073709551615\n");
}

// Returns the words of a text, for tables that are easier to read without quotes and commas.
std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(WriteYaml, PlainWhereThatReadsBack) {
  for (const std::string& text :
       Words("10.96.0.0/16 fd00:10:96::/112 30000-32767 ::1 10.96.0.10 web a,b v1 None "
             "http://a.b/c?d=e 1.2.3 e3 x1 0x 0xg 0b2 1e 1:60 2026-11 2026-11-15x 2026-11-15T1 "
             "12:a yes! nulls . _1 +_ -a é")) {
    EXPECT_EQ(WriteYaml(text), text + "\n");
  }
  EXPECT_EQ(WriteYaml("a b"), "a b\n");
}

TEST(WriteYaml, DoubleQuotesWhatReadersWouldTakeForSomethingElse) {
  std::vector<std::string> texts = Words(
      "~ null NULL true False y N yes No on OFF 1 -1 +1 017 0o17 0x1F 0b101 1_000 1:30 -1:30 "
      "1:2:3:4:5:6:7:8 190:20:30.15 1.5 .5 1. 1e3 12e03 -1.5E-7 .inf -.Inf .NaN << = +_1 "
      "2026-11-15 2026-1-5 2026-11-15T04:35:00Z 2026-11-15T04:35:00.123+01:00 "
      "18446744073709551616");
  texts.emplace_back("");
  texts.emplace_back("2026-11-15 4:35:00.1 -05:30");
  for (const std::string& text : texts) {
    EXPECT_EQ(WriteYaml(text), "\"" + text + "\"\n");
    EXPECT_EQ(WriteYaml(Object{{text, 1}}), "\"" + text + "\": 1\n");
  }
}

TEST(WriteYaml, SingleQuotesWherePunctuationIsInTheWay) {
  std::vector<std::string> texts =
      Words(":: fd00:: 1: * # - ? !a &a %a @a `a { [a] | > \"a\" --- ... , :");
  texts.insert(texts.end(), {"a: b", "a #b", "- a", "? a", " a", "a "});
  for (const std::string& text : texts) EXPECT_EQ(WriteYaml(text), "'" + text + "'\n");
  EXPECT_EQ(WriteYaml("'a"), "'''a'\n");
}

TEST(WriteYaml, LinesBecomeALiteralBlock) {
  EXPECT_EQ(WriteYaml(Object{{"a", Object{{"last-applied", "{\"b\":1}\n"}}}, {"c", "d\ne"}}),
            "a:\n  last-applied: |\n    {\"b\":1}\nc: |-\n  d\n  e\n");
  EXPECT_EQ(WriteYaml(Array{"1\r\n2", "a\tb", std::string(1, '\0'), "\x7f", "a\u2028b\nc"}),
            "- \"1\\r\\n2\"\n- \"a\\tb\"\n- \"\\0\"\n- \"\\x7F\"\n- \"a\\Lb\\nc\"\n");
}

TEST(WriteYaml, LongLinesAreFoldedAtASpace) {
  EXPECT_EQ(WriteYaml(Object{{"message",
                              "only the following media types are accepted: "
                              "application/json;stream=watch, application/x;stream=watch"}}),
            "message: 'only the following media types are accepted: application/json;stream=watch,"
            "\n  application/x;stream=watch'\n");
  const std::string unbroken(300, 'x');
  EXPECT_EQ(WriteYaml(Object{{"k", unbroken}}), "k: " + unbroken + "\n");
}

TEST(WriteYaml, FoldedLinesReadBack) {
  // In every style, with runs of spaces and YAML punctuation on both sides of each fold.
  for (const std::string start : {"", "'", "a: ", "\t", "12 ", "é "}) {
    for (const std::string part : {"word ", "a  b ", "- ", "# ", "--- ", "\\ ", "\" ", "it's   "}) {
      std::string text = start;
      for (int i = 0; i < 70; ++i) text += part;
      EXPECT_EQ(ReadBack(text), Value(text));
      EXPECT_EQ(ReadBack(Object{{"k", Array{text, Object{{text, 1}}}}}),
                Value(Object{{"k", Array{text, Object{{text, 1}}}}}));
      const auto parsed = ParseYaml(WriteYaml(Object{{"k", text}}));
      ASSERT_TRUE(parsed.has_value()) << text;
      EXPECT_EQ(parsed->value, Value(Object{{"k", text}}));
    }
  }
}

TEST(WriteYaml, BadUtf8IsReplaced) {
  EXPECT_EQ(ReadBack("a\xFF"
                     "b"),
            Value("a\uFFFD"
                  "b"));
}

TEST(WriteYaml, OddKeysReadBack) {
  const Value value = Object{{"", 1},     {"a\nb", 2}, {std::string(200, 'k'), Array{1}},
                             {"true", 3}, {"a: b", 4}, {"? x", Object{{"- y", 5}}},
                             {" ", 6},    {"a\rb", 7}};
  EXPECT_EQ(ReadBack(value), value);
}

TEST(WriteYaml, AnyDepth) {
  std::string expected;
  for (int i = 1; i < 2000; ++i) expected += "- ";
  EXPECT_EQ(WriteYaml(Nested(2000)), expected + "[]\n");
}

RC_GTEST_PROP(Yaml, EveryValueReadsBackEqual, ()) {
  for (int64_t i = 0; i < DrawsPerCase(); ++i) {
    const Value value = ArbitraryValue(4);
    RC_ASSERT(ReadBack(value) == value);
  }
}

RC_GTEST_PROP(Yaml, EveryStringReadsBackEqual, ()) {
  for (int64_t i = 0; i < DrawsPerCase(); ++i) {
    const std::string text = ArbitraryText();
    RC_ASSERT(ReadBack(text) == Value(text));
    RC_ASSERT(ReadBack(Object{{"k", Array{text}}}) == Value(Object{{"k", Array{text}}}));
  }
}

// Texts from the characters of numbers and times, so that many of them are numbers or times.
TEST(Yaml, NothingThatResolvesIsTakenForAString) {
  static constexpr std::string_view kAlphabet = "0011223459..::--__++eExoTZ bf";
  const uint64_t seed = base::TestSeed(1);
  base::SeededRandom random(seed);
  for (int64_t i = 0; i < base::LongCount(300'000); ++i) {
    std::string text(base::Uniform(random, 9), ' ');
    for (char& c : text) c = kAlphabet[base::Uniform(random, kAlphabet.size())];
    if (MatchesAResolver(text)) {
      ASSERT_TRUE(IsTakenForNonString(text)) << text << ", BERTH_SEED=" << seed;
    }
  }
}

}  // namespace
}  // namespace berth::codec
