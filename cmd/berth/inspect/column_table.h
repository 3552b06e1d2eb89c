// A table that fits its terminal. Columns are as wide as their cells. Where that is too much, the
// columns that matter least are left out, and then the widest of those that may shrink are cut.
// Pure.
//
//   ColumnTable table({{.title = "RANGE", .shrinks = true}, {.title = "SPILL", .rank = 3}});
//   table.Add({"10.96.0.0/16", {"12", Color::kYellow}});
//   std::string text = table.Text(paint);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/paint.h"

namespace berth::cli {

struct TableLayout {
  bool tight = false;  ///< Columns stand closer together, for a table that has many.
  bool fit = true;     ///< If unset, all columns are there, and lines may be too wide.
};

class ColumnTable {
 public:
  struct Column {
    std::string title = {};
    bool right = false;    ///< Numbers are aligned to the right.
    bool shrinks = false;  ///< Its cells may be cut.
    /// Columns with a higher rank are left out first. Those of rank 0 stay.
    int rank = 0;
    bool gauge = false;  ///< Its cells are gauges, which take the room that is left.
  };
  struct Cell {
    Cell(std::string content, Color paint = Color::kNone)  // NOLINT(google-explicit-constructor)
        : text(std::move(content)), color(paint) {}
    Cell(const char* content) : text(content) {}  // NOLINT(google-explicit-constructor)

    /// Returns the cell of a gauge.
    static Cell Gauge(double percent) {
      Cell cell("");
      cell.percent = percent;
      return cell;
    }

    std::string text;
    Color color = Color::kNone;
    std::optional<double> percent = {};  ///< Of a gauge.
  };

  explicit ColumnTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row with a cell for each column.
  void Add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  /// Returns indented lines that end with a newline and not with a blank. Leaves out a column that
  /// has a title and only empty cells. Returns an empty text if there are no rows.
  std::string Text(const Paint& paint, const TableLayout& layout = {}) const;

 private:
  struct Shown {
    size_t column = 0;
    size_t width = 0;
  };
  /// The columns that are shown, and the blanks between them.
  struct Frame {
    std::vector<Shown> shown = {};
    size_t gap = 0;

    size_t Width() const;
  };

  std::vector<Shown> Filled() const;
  int RankOf(const Shown& shown) const;
  void LeaveOut(Frame& frame, size_t room) const;
  void Shrink(Frame& frame, size_t room) const;
  std::string Line(const std::vector<Cell>& row, const Frame& frame, size_t room,
                   const Paint& paint) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace berth::cli
