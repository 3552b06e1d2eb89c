#include "codec/yaml_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/yaml_documents.h"

namespace berth::codec {
namespace {

/// Returns "line:column" of a path.
std::string PlaceOf(std::string_view text, const std::string& path) {
  const std::vector<std::string> paths = {path};
  const TextMark mark = LocateYaml(text, paths).front();
  return std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

TEST(LocateYaml, FindsValuesInEveryStyle) {
  const struct {
    std::string_view what;
    std::string_view text;
    std::string path;
    std::string place;
  } rows[] = {
      {"block", "a:\n  b: 1\n  c:\n  - x: 2\n  - x: 3 # note\n", "a.c[1].x", "5:8"},
      {"flow", "a: {b: 1, c: [{x: 2}, {x: 3}]}", "a.c[1].x", "1:27"},
      {"json", "{\n\t\"a\": {\"c\": [1, 20]}\n}", "a.c[1]", "2:17"},
      {"carriage returns", "a:\r\n  b: 1\r\n  c: 2\r\n", "a.c", "3:6"},
      {"byte order mark", "\xEF\xBB\xBF# text\na:\n  c: 2\n", "a.c", "3:6"},
      {"document marker", "---\na: 1\n", "a", "2:4"},
      {"characters, not bytes", "a: {'ü€': 1, b: 2}", "a.b", "1:17"},
      {"alias", "x: &p 30088\nb: *p\n", "b", "2:4"},
      {"inside an alias", "x: &m {p: 1}\nb: *m\n", "b.p", "2:4"},
      {"the last of two", "a: 1\na: 2\n", "a", "2:4"},
      {"missing", "a:\n  b: 1\n", "a.zzz.y", "2:3"},
      {"nothing", "", "a.b", "1:1"},
      {"odd keys", "? {q: 1}\n: 5\n? [z]\n: 6\na: 7\n", "a", "5:4"},
      {"before a fault", "a: 1\nb: [\n", "a", "1:4"},
      {"after a fault", "b: }\na: 1\n", "a", "1:1"},
      {"surrogates", R"({"s": "\ud83d\ude00 \\ud83d", "a": 1})", "a", "1:36"},
      {"block text", "t: |\n  ---x\n  a: 1\na: 2\n", "a", "4:4"},
  };
  for (const auto& row : rows) EXPECT_EQ(PlaceOf(row.text, row.path), row.place) << row.what;
}

TEST(LocateYaml, ManyPathsAtOnce) {
  std::string text = "items:\n";
  std::vector<std::string> paths;
  for (size_t i = 0; i < 1000; ++i) {
    text += "- {v: 1}\n";
    paths.push_back("items[" + std::to_string(i) + "].v");
  }
  const std::vector<TextMark> marks = LocateYaml(text, paths);
  for (size_t i = 0; i < marks.size(); ++i) {
    EXPECT_EQ(marks[i], (TextMark{.line = i + 2, .column = 7}));
  }
}

TEST(FindYamlFault, SaysWhere) {
  EXPECT_EQ(FindYamlFault("a: 1\n"), std::nullopt);
  const auto tab = FindYamlFault("a:\n  b: 1\n\tc: 2\n");
  ASSERT_TRUE(tab);
  EXPECT_EQ(tab->mark, (TextMark{.line = 3, .column = 1}));
  EXPECT_EQ(tab->problem, "found a tab character that violates indentation");
  const auto control = FindYamlFault("a: 1\nb: \x01\n");
  ASSERT_TRUE(control);
  EXPECT_EQ(control->mark, (TextMark{.line = 2, .column = 4}));
  EXPECT_EQ(FindYamlFault("\x01")->mark, TextMark());
}

TEST(SplitYaml, CutsAtMarkers) {
  const auto pieces = [](std::string_view text) {
    std::vector<std::string> out;
    for (const YamlPiece& piece : SplitYaml(text)) {
      out.push_back(std::to_string(piece.line) + ":" + std::string(piece.text));
    }
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(pieces(""), ElementsAre("1:"));
  EXPECT_THAT(pieces("a"), ElementsAre("1:a"));
  EXPECT_THAT(pieces("---\na\n--- # x\nb\n---"),
              ElementsAre("1:---\na\n", "3:--- # x\nb\n", "5:---"));
  EXPECT_THAT(pieces("# c\r\n---\r\na\r\n"), ElementsAre("1:# c\r\n", "2:---\r\na\r\n"));
  EXPECT_THAT(pieces("%YAML 1.1\n---\na\n---\nb\n"),
              ElementsAre("1:%YAML 1.1\n---\na\n", "4:---\nb\n"));
  EXPECT_THAT(pieces("a: |\n  ---\n  x\n"), ElementsAre("1:a: |\n  ---\n  x\n"));
}

}  // namespace
}  // namespace berth::codec
