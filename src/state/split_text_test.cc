#include "state/split_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "state/wire_text.h"

namespace berth::state {
namespace {

constexpr std::string_view kUid = "c0ffee00-0123-4567-89ab-000000000001";
constexpr std::string_view kTime = "2026-11-15T17:17:39Z";

/// Parses a text with `{` and `}` around its own parts, `^` where the metadata begins, `#` where
/// the version belongs and `<`, `>` around the managed fields.
WireText Read(std::string_view drawn) {
  WireText wire;
  for (const char c : drawn) {
    const size_t at = wire.text.size();
    OwnParts::Part& part = wire.own.parts[wire.own.count];
    switch (c) {
      case '{':
        part.at = static_cast<uint32_t>(at);
        break;
      case '}':
        part.size = static_cast<uint32_t>(at) - part.at;
        ++wire.own.count;
        break;
      case '^':
        wire.metadata_at = at;
        break;
      case '#':
        wire.version_at = at;
        break;
      case '<':
        wire.managed_at = at;
        break;
      case '>':
        wire.managed_size = at - wire.managed_at;
        break;
      default:
        wire.text.push_back(c);
    }
  }
  return wire;
}

struct Halves {
  Halves(const WireText& wire, std::string_view its_name)
      : name(its_name), split(Split(wire, name)), joined(split.shape, split.own.data(), name) {}

  std::string Get(const JoinedText::Wanted& wanted) const {
    std::string out = "> ";
    joined.AppendTo(out, wanted);
    return out.substr(2);
  }

  const std::string name;
  const SplitText split;
  const JoinedText joined;
};

TEST(SplitTextTest, GivesTheTextBackInAllItsViews) {
  const WireText wire = Read("kind ^name {web} uid {u} v # m <fields> rest {x} end");
  ASSERT_TRUE(CanSplit(wire));
  const Halves halves(wire, "n");
  EXPECT_EQ(halves.Get({.version = "42"}), "kind name web uid u v 42 m fields rest x end");
  EXPECT_EQ(halves.Get({.managed_fields = false}), "kind name web uid u v  m  rest x end");
  EXPECT_EQ(halves.Get({.from_metadata = true, .version = "42"}),
            "name web uid u v 42 m fields rest x end");
  std::string out = "> ";
  EXPECT_EQ(out.substr(0, halves.joined.AppendTo(out, {.version = "42"})),
            "> kind name web uid u v 42");
  EXPECT_EQ(halves.joined.Size(), wire.text.size());
  EXPECT_EQ(halves.joined.OwnSize(), halves.split.own.size());
  EXPECT_EQ(halves.split.own.size(), std::string_view("webux").size() + 3);
}

TEST(SplitTextTest, TextsThatDifferInTheirOwnPartsHaveTheSameShape) {
  const auto shape = [](std::string_view drawn) { return Split(Read(drawn), "n").shape; };
  EXPECT_EQ(shape("^a{web}b#c{x}"), shape("^a{}b#c{another one}"));
  EXPECT_NE(shape("^a{web}b#c{x}"), shape("^a{web}B#c{x}"));
  EXPECT_NE(shape("^a{web}b#c{x}"), shape("^{web}ab#c{x}"));
  EXPECT_NE(shape("^a{web}b#c{x}"), shape("^a{web}#bc{x}"));
  EXPECT_EQ(shape(R"(#<"time":"2026-11-15T17:17:39Z">{x})"),
            shape(R"(#<"time":"2026-11-15T17:17:40Z">{x})"));
}

TEST(SplitTextTest, KeepsWellKnownFormsPackedAndRepetitionsOnce) {
  const auto own = [](const std::string& drawn) { return Split(Read(drawn), "me").own.size(); };
  const std::string uid(kUid);
  const std::string time(kTime);
  EXPECT_EQ(own("^{me}#"), 0U);
  EXPECT_EQ(own("^{" + uid + "}#"), 16U);
  EXPECT_EQ(own("^{" + time + "}#"), 4U);
  EXPECT_EQ(own("^{" + uid + "}#{" + uid + "}"), 16U);
  EXPECT_EQ(own("^{" + time + "}#<\"time\":\"" + time + "\">"), 4U);
  EXPECT_EQ(own("^{" + time + "}#<\"time\":\"2026-11-15T17:17:40Z\">"), 8U);
  EXPECT_EQ(own("^{you}#{you}{them}{you}"), 4U + 5U);
  EXPECT_EQ(own("^#{" + std::string(127, 'x') + "}"), 128U);
  EXPECT_EQ(own("^#{" + std::string(128, 'x') + "}"), 130U);
  EXPECT_EQ(own("^#{" + std::string(20'000, 'x') + "}"), 20'003U);
}

TEST(SplitTextTest, TakesMarksAtAllEdges) {
  for (const std::string_view drawn :
       {"{a}#", "^{a}#{b}", "^{}#{}", "#<f>{a}", "^{a}{b}{c}#{d}{e}{f}{g}{h}", "^#x{a}<f>{b}",
        "a^{}b#{}c<d>{}", "^x#y{}<f>"}) {
    const WireText wire = Read(drawn);
    ASSERT_TRUE(CanSplit(wire)) << drawn;
    const Halves halves(wire, "n");
    std::string expected = wire.text;
    EXPECT_EQ(halves.Get({}), expected) << drawn;
    EXPECT_EQ(halves.Get({.from_metadata = true}), expected.substr(wire.metadata_at)) << drawn;
    EXPECT_EQ(halves.Get({.version = "7"}), expected.insert(wire.version_at, "7")) << drawn;
  }
}

TEST(SplitTextTest, ManyTimesAreWorthNoMoreThanTheirBytes) {
  std::string drawn = "^{x}#<";
  for (int i = 0; i < 80; ++i) {
    drawn += "\"time\":\"2026-11-15T17:17:" + std::to_string(10 + i % 50) + "Z\"";
  }
  const WireText wire = Read(drawn + ">");
  EXPECT_EQ(Halves(wire, "n").Get({}), wire.text);
}

TEST(SplitTextTest, CannotBeSplitAtMarksThatMakeNoSense) {
  const auto with = [](const std::vector<OwnParts::Part>& parts) {
    WireText wire = Read("kind^ name#version<managed> more");
    for (const OwnParts::Part& part : parts) wire.own.parts[wire.own.count++] = part;
    return wire;
  };
  EXPECT_FALSE(CanSplit(with({})));
  EXPECT_TRUE(CanSplit(with({{.at = 4, .size = 5}, {.at = 9, .size = 7}, {.at = 23, .size = 5}})));
  EXPECT_FALSE(CanSplit(with({{.at = 3, .size = 1}})));    // Before metadata.
  EXPECT_FALSE(CanSplit(with({{.at = 8, .size = 2}})));    // Around the version.
  EXPECT_FALSE(CanSplit(with({{.at = 15, .size = 2}})));   // Reaches into the managed fields.
  EXPECT_FALSE(CanSplit(with({{.at = 17, .size = 2}})));   // Inside the managed fields.
  EXPECT_FALSE(CanSplit(with({{.at = 10, .size = 20}})));  // Around the managed fields.
  EXPECT_FALSE(CanSplit(with({{.at = 23, .size = 6}})));   // Beyond the text.
  EXPECT_FALSE(CanSplit(with({{.at = 24, .size = 1}, {.at = 23, .size = 1}})));  // Not ascending.
  EXPECT_FALSE(CanSplit(with({{.at = 23, .size = 2}, {.at = 24, .size = 1}})));  // Overlapping.
  WireText wire = with({{.at = 23, .size = 2}});
  wire.own.count = OwnParts::kMost + 1;
  EXPECT_FALSE(CanSplit(wire));
}

/// Returns a text that often has a well-known form, nearly has one, or is repeated.
std::string AnyText() {
  static const std::array<std::string, 9> known = {std::string(kUid),
                                                   std::string(kTime),
                                                   "me",
                                                   "",
                                                   "2026-02-30T00:00:00Z",
                                                   "C0FFEE00-0123-4567-89ab-000000000001",
                                                   "\"time\":\"",
                                                   "\",",
                                                   "2106-02-07T06:28:15Z"};
  if (*rc::gen::inRange(0, 3) > 0) return *rc::gen::elementOf(known);
  return *rc::gen::arbitrary<std::string>();
}

uint32_t EndOf(const WireText& wire) { return static_cast<uint32_t>(wire.text.size()); }

/// Appends some pieces of text and marks some of them.
void AddPieces(WireText& wire) {
  for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
    const std::string text = AnyText();
    if (wire.own.count < OwnParts::kMost && *rc::gen::arbitrary<bool>()) {
      wire.own.parts[wire.own.count++] = {.at = EndOf(wire),
                                          .size = static_cast<uint32_t>(text.size())};
    }
    wire.text += text;
  }
}

RC_GTEST_PROP(SplitTextProperty, AnyTextComesBack, ()) {
  WireText wire;
  wire.text = AnyText();
  wire.metadata_at = wire.text.size();
  AddPieces(wire);
  wire.version_at = wire.text.size();
  wire.text += '"';
  AddPieces(wire);
  if (*rc::gen::arbitrary<bool>()) {
    wire.managed_at = wire.text.size();
    for (int left = *rc::gen::inRange(0, 6); left > 0; --left) wire.text += AnyText();
    wire.managed_size = wire.text.size() - wire.managed_at;
  }
  AddPieces(wire);
  if (wire.own.count == 0) wire.own = {.parts = {{{.at = EndOf(wire)}}}, .count = 1};
  RC_ASSERT(CanSplit(wire));
  const Halves halves(wire, "me");
  std::string expected = wire.text;
  RC_ASSERT(halves.joined.Size() == expected.size());
  RC_ASSERT(halves.joined.OwnSize() == halves.split.own.size());
  RC_ASSERT(halves.Get({}) == expected);
  RC_ASSERT(halves.Get({.from_metadata = true}) == expected.substr(wire.metadata_at));
  expected.erase(wire.managed_at, wire.managed_size).insert(wire.version_at, "77");
  RC_ASSERT(halves.Get({.managed_fields = false, .version = "77"}) == expected);
}

}  // namespace
}  // namespace berth::state
