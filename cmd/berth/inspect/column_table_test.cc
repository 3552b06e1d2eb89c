#include "berth/inspect/column_table.h"

#include <gtest/gtest.h>

#include "berth/paint.h"

namespace berth::cli {
namespace {

TEST(ColumnTableTest, LeastImportantColumnsGoFirst) {
  ColumnTable table({{.title = "NAME", .shrinks = true},
                     {.title = "FIRST", .right = true, .rank = 2},
                     {.title = "SECOND", .right = true, .rank = 1}});
  table.Add({"a-long-name", "1", "22"});
  EXPECT_EQ(table.Text(Paint({.width = 40}), {.tight = true}),
            "  NAME         FIRST  SECOND\n"
            "  a-long-name      1      22\n");
  EXPECT_EQ(table.Text(Paint({.width = 27}), {.tight = true}),
            "  NAME         SECOND\n"
            "  a-long-name      22\n");
  EXPECT_EQ(table.Text(Paint({.width = 12}), {.tight = true}),
            "  NAME\n"
            "  a-long-...\n");
  EXPECT_EQ(table.Text(Paint({.width = 12}), {.tight = true, .fit = false}),
            "  NAME         FIRST  SECOND\n"
            "  a-long-name      1      22\n");
  EXPECT_EQ(ColumnTable({{.title = "NAME"}}).Text(Paint({})), "");
}

TEST(ColumnTableTest, TheWidestColumnShrinksFirst) {
  ColumnTable table({{.title = "A", .shrinks = true}, {.title = "B", .shrinks = true}});
  table.Add({"0123456789", "0123456789abcdef"});
  EXPECT_EQ(table.Text(Paint({.width = 23})),
            "  A          B\n"
            "  0123456789 0123456...\n");
  EXPECT_EQ(table.Text(Paint({.width = 15})),
            "  A        B\n"
            "  01234... 0...\n");
}

TEST(ColumnTableTest, ATitleWithoutContentIsLeftOut) {
  ColumnTable table({{.title = "A"}, {.title = "NOTHING"}, {.title = "B"}});
  table.Add({"1", "", "2"});
  EXPECT_EQ(table.Text(Paint({.width = 80})), "  A   B\n  1   2\n");
}

TEST(ColumnTableTest, GaugesTakeTheRoomThatIsLeft) {
  ColumnTable table({{.title = "A"}, {.gauge = true}, {.title = "B"}});
  table.Add({"1", ColumnTable::Cell::Gauge(100), "2"});
  const Paint narrow({.width = 20});
  EXPECT_EQ(table.Text(narrow),
            "  A" + std::string(16, ' ') + "B\n  1 " + narrow.Gauge(100, 14) + " 2\n");
  const Paint wide({.width = 80});
  EXPECT_EQ(table.Text(wide),
            "  A" + std::string(26, ' ') + "B\n  1   " + wide.Gauge(100, 20) + "   2\n");
}

}  // namespace
}  // namespace berth::cli
