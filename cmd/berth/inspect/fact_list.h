// A list of facts: a label and a text that may need several lines. Where the terminal is too narrow
// for two columns, each text stands below its label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/paint.h"

namespace berth::cli {

class FactList {
 public:
  struct Fact {
    std::string label;
    std::string text;
    std::string lead;
    Color color;
  };

  explicit FactList(const Paint& paint) : paint_(paint) {}

  /// Adds a fact. If the text begins with `lead`, the lead gets the colour. A fact without a label
  /// continues the one before. A fact without a text is left out.
  void Add(std::string_view label, std::string text, std::string_view lead = {},
           Color color = Color::kNone);

  const std::vector<Fact>& facts() const { return facts_; }

  /// Returns lines that end with a newline.
  std::string Text() const;

 private:
  Paint paint_;
  std::vector<Fact> facts_;
};

}  // namespace berth::cli
