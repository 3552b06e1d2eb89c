#include "controllers/verdict.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::controllers {
namespace {

using Kind = Verdict::Kind;

struct Row {
  std::string name;
  /// One letter per owner: u(nknown), a(bsent), s(olid), w(aiting), o(rphaning).
  std::string owners;
  Kind expected = Kind::kNothing;
  std::string dropped = {};  // Positions of the owners.
  bool deleted = false;
  Waits waits = Waits::kNo;
  size_t dependents = 0;
  size_t blocking = 0;
  bool in_circle = false;
};

class VerdictTest : public ::testing::TestWithParam<Row> {};

TEST_P(VerdictTest, IsUpstreams) {
  const Row& row = GetParam();
  Situation situation{.facts = {.deleted = row.deleted, .waits = row.waits},
                      .dependents = row.dependents,
                      .blocking = row.blocking,
                      .in_circle = row.in_circle};
  for (size_t i = 0; i < row.owners.size(); ++i) {
    situation.facts.owners.push_back({.owner = "key", .uid = std::to_string(i)});
    situation.owners.push_back(static_cast<OwnerState>(std::string("uaswo").find(row.owners[i])));
  }
  const Verdict verdict = Judge(situation);
  EXPECT_EQ(verdict.kind, row.expected);
  std::string dropped;
  for (const std::string& uid : verdict.owners) dropped += uid;
  EXPECT_EQ(dropped, row.dropped);
}

INSTANTIATE_TEST_SUITE_P(
    Background, VerdictTest,
    ::testing::Values(Row{"nobody's", "", Kind::kNothing}, Row{"owned", "s", Kind::kNothing},
                      Row{"owner gone", "a", Kind::kDelete}, Row{"all gone", "aa", Kind::kDelete},
                      Row{"one left", "asa", Kind::kDropOwners, "02"},
                      Row{"one left, first", "sa", Kind::kDropOwners, "1"},
                      Row{"going already", "a", Kind::kNothing, "", true},
                      Row{"its dependents do not matter", "a", Kind::kDelete, "", false, Waits::kNo,
                          3, 3},
                      Row{"one nobody can look up", "u", Kind::kNothing},
                      Row{"one nobody can look up, one gone", "ua", Kind::kNothing},
                      Row{"one nobody can look up, one solid, one gone", "usa", Kind::kNothing}));

INSTANTIATE_TEST_SUITE_P(
    Foreground, VerdictTest,
    ::testing::Values(
        Row{"owner waits", "w", Kind::kDelete},
        Row{"owner waits, has dependents", "w", Kind::kDeleteForeground, "", false, Waits::kNo, 1},
        Row{"one waits, one gone", "wa", Kind::kDelete},
        Row{"one waits, one gone, has dependents", "aw", Kind::kDeleteForeground, "", false,
            Waits::kNo, 1},
        Row{"one waits, one solid", "ws", Kind::kDropOwners, "0"},
        Row{"one waits, one solid, one gone", "wsa", Kind::kDropOwners, "20"},
        Row{"one waits, one nobody can look up", "wua", Kind::kDropOwners, "0"},
        Row{"waits itself, nothing left", "", Kind::kFinish, "", true, Waits::kForeground},
        Row{"dependents that do not block", "", Kind::kFinish, "", true, Waits::kForeground, 2},
        Row{"dependents that block", "", Kind::kNothing, "", true, Waits::kForeground, 2, 1},
        Row{"in a circle", "w", Kind::kUnblock, "", true, Waits::kForeground, 2, 1, true},
        Row{"in a circle that is no more", "w", Kind::kFinish, "", true, Waits::kForeground, 2, 0,
            true}));

INSTANTIATE_TEST_SUITE_P(
    Orphan, VerdictTest,
    ::testing::Values(Row{"let go", "o", Kind::kDropOwners, "0"},
                      Row{"let go by one, the other gone", "ao", Kind::kDropOwners, "1"},
                      Row{"let go though the other is unknown", "ou", Kind::kDropOwners, "0"},
                      Row{"let go though it is going", "o", Kind::kDropOwners, "0", true},
                      Row{"let go though it waits", "o", Kind::kDropOwners, "0", true,
                          Waits::kForeground, 1, 1},
                      Row{"has let all go", "", Kind::kFinish, "", true, Waits::kOrphan},
                      Row{"has dependents", "s", Kind::kNothing, "", true, Waits::kOrphan, 1, 0}));

}  // namespace
}  // namespace berth::controllers
