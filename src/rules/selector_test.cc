#include "rules/selector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

std::string Canonical(std::string_view text) {
  const auto selector = LabelSelector::Parse(text);
  return selector.has_value() ? selector->ToString() : "error: " + selector.error().message;
}

TEST(LabelSelector, Canonical) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"  ", ""},
      {"a=b", "a=b"},
      {"a == b", "a==b"},
      {"a!=b", "a!=b"},
      {"a", "a"},
      {"!a", "!a"},
      {"! a", "!a"},
      {"b,a", "a,b"},
      {"a in (c, b,b)", "a in (b,c)"},
      {"a notin (b)", "a notin (b)"},
      {"a in (,)", "a in (,)"},
      {"a in (b,)", "a in (,b)"},
      {"a in (b,,c)", "a in (,b,c)"},
      {"a=", "a="},
      {"a=,b", "a=,b"},
      {"a>1", "a>1"},
      {"a < 2", "a<2"},
      {"in in (in,notin)", "in in (in,notin)"},
      {"notin", "notin"},
      {"x.io/a\t=\r\nb", "x.io/a=b"},
  };
  for (const auto& [text, canonical] : cases) EXPECT_EQ(Canonical(text), canonical) << text;
}

TEST(LabelSelector, Errors) {
  const std::string name =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const std::string prefix = "unable to parse requirement: ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a b", prefix + "found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"x in", prefix + "found '' expected: '('"},
      {"x=(", prefix + "found '(', expected: identifier"},
      {"tier===x", prefix + "found '=', expected: identifier"},
      {"tier in (a", prefix + "found '', expected: ',' or ')'"},
      {"bad key=x", prefix + "found 'key', expected: in, notin, =, ==, !=, gt, lt"},
      {"k=bad value!", "found 'value', expected: ',' or 'end of string'"},
      {"x>a", prefix + "values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must "
                       "be an integer"},
      {"x>", prefix + "values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be "
                      "an integer"},
      {"=x", "found '=', expected: !, identifier, or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"a,,b", "found ',', expected: identifier after ','"},
      {"!", prefix + "found '', expected: identifier"},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
      {"a in (=)", prefix + "found '=', expected: ',', ')' or identifier"},
      {"a in (b=)", prefix + "found '=', expected: ',' or ')'"},
      {"a in (,=)", prefix + "found '=', expected: ',', or identifier"},
      {"a in ()", prefix + "values: Invalid value: []: for 'in', 'notin' operators, values set "
                           "can't be empty"},
      {"-a", prefix + "<nil>: Invalid value: \"-a\": " + name},
      {"a=-b", prefix +
                   "values[0][a]: Invalid value: \"-b\": a valid label must be an empty string "
                   "or consist of alphanumeric characters, '-', '_' or '.', and must start and "
                   "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
                   "'12345', regex used for validation is "
                   "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
  };
  for (const auto& [text, message] : cases) {
    const auto selector = LabelSelector::Parse(text);
    ASSERT_FALSE(selector.has_value()) << text;
    EXPECT_EQ(selector.error().message, message) << text;
    EXPECT_EQ(selector.error().reason, base::Reason::kBadRequest);
  }
}

TEST(LabelSelector, Matches) {
  const codec::Value a1 = Json("{'metadata':{'labels':{'tier':'front','env':'prod','n':'5'}}}");
  const codec::Value b1 = Json("{'metadata':{'labels':{'tier':'back'}}}");
  const codec::Value c1 = Json("{'metadata':{}}");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "abc"},
      {"tier=front", "a"},
      {"tier==back", "b"},
      {"tier!=front", "bc"},
      {"env", "a"},
      {"!env", "bc"},
      {"tier=nope", ""},
      {"env in (prod,dev)", "a"},
      {"tier", "ab"},
      {"tier in (front, back),env", "a"},
      {"env notin (x)", "abc"},
      {"env notin (prod)", "bc"},
      {"n>4", "a"},
      {"n>5", ""},
      {"n<6", "a"},
      {"tier>1", ""},
      {"tier=,env", ""},
      {"n>99999999999999999999", "!"},
  };
  for (const auto& [text, matching] : cases) {
    const auto selector = LabelSelector::Parse(text);
    std::string got = selector.has_value() ? "" : "!";
    if (selector.has_value() && selector->Matches(a1)) got += 'a';
    if (selector.has_value() && selector->Matches(b1)) got += 'b';
    if (selector.has_value() && selector->Matches(c1)) got += 'c';
    EXPECT_EQ(got, matching) << text;
  }
}

TEST(LabelSelector, InputIsBounded) {
  std::string text(kMaxSelectorBytes - 2, ' ');
  EXPECT_TRUE(LabelSelector::Parse(text + "a").has_value());
  EXPECT_FALSE(LabelSelector::Parse(text + "aaaa").has_value());
}

TEST(LabelSelector, ANulEndsIt) {
  EXPECT_EQ(Canonical(std::string_view("a\0=b", 4)), "a=b") << "of a word only the word";
  EXPECT_EQ(Canonical(std::string_view("\0a", 2)), "");
}

rc::Gen<std::string> Word() {
  return rc::gen::resize(
      40, rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', 'b', '0', 'Z'))));
}

rc::Gen<std::string> Condition() {
  return rc::gen::oneOf(
      Word(), rc::gen::map(Word(), [](const std::string& key) { return "!" + key; }),
      rc::gen::apply([](const std::string& key, const std::string& op,
                        const std::string& value) { return key + op + value; },
                     Word(), rc::gen::element<std::string>("=", "==", "!=", " = "), Word()),
      rc::gen::apply(
          [](const std::string& key, const std::string& op,
             const std::vector<std::string>& values) {
            std::string text = key + op;
            for (const std::string& value : values) text += value + ",";
            return text + ")";
          },
          Word(), rc::gen::element<std::string>(" in (", " notin ( "),
          rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(Word()))),
      rc::gen::apply(
          [](const std::string& key, int number) {
            return key + (number % 2 == 0 ? ">" : "<") + std::to_string(number < 0 ? 0 : number);
          },
          Word(), rc::gen::arbitrary<int>()));
}

RC_GTEST_PROP(LabelSelector, ItsTextMeansTheSame, ()) {
  std::string text;
  for (const std::string& condition : *rc::gen::container<std::vector<std::string>>(Condition())) {
    if (!text.empty()) text += ',';
    text += condition;
  }
  const auto selector = LabelSelector::Parse(text);
  RC_ASSERT(selector.has_value());
  const auto again = LabelSelector::Parse(selector->ToString());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *selector);
}

}  // namespace
}  // namespace berth::rules
