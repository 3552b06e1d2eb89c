// libyaml's parser as a stream of events, for the YAML readers in this folder. This is the only
// header that shows libyaml; include it from .cc files only.
#pragma once

#include <fmt/format.h>
#include <yaml.h>

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

inline std::string_view YamlText(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

/// libyaml's parser and its current event. The text must outlive it.
class YamlEvents {
 public:
  explicit YamlEvents(std::string_view text) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~YamlEvents() {
    yaml_event_delete(&event_);
    if (ready_) yaml_parser_delete(&parser_);
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  const yaml_event_t& Get() const { return event_; }

  /// Goes to the next event. Returns false if the text has a fault.
  bool Next() {
    yaml_event_delete(&event_);
    return ready_ && yaml_parser_parse(&parser_, &event_) != 0;
  }

  /// Returns the fault in the text, in the words and with the line numbers of Go's parser.
  std::string Fault() const {
    if (Problem().empty()) return "yaml: unknown problem parsing YAML content";
    size_t line = parser_.problem_mark.line;
    if (line != 0) {
      if (parser_.error == YAML_SCANNER_ERROR) ++line;
    } else {
      line = parser_.context_mark.line;
    }
    if (line == 0) return fmt::format("yaml: {}", Problem());
    return fmt::format("yaml: line {}: {}", line, Problem());
  }

  /// Returns libyaml's words for the fault, or an empty text.
  std::string_view Problem() const {
    return !ready_ || parser_.problem == nullptr ? std::string_view() : parser_.problem;
  }
  /// Returns where libyaml noticed the fault. Lines and columns count from 0.
  yaml_mark_t ProblemMark() const { return parser_.problem_mark; }
  /// Returns the position of a byte that no YAML text may have. libyaml sees it long before it
  /// comes to it, so there is no mark. Returns nullopt for other faults.
  std::optional<size_t> BadByte() const {
    if (parser_.error != YAML_READER_ERROR) return std::nullopt;
    return parser_.problem_offset;
  }

 private:
  yaml_parser_t parser_;
  yaml_event_t event_ = {};
  bool ready_ = false;
};

}  // namespace berth::codec
