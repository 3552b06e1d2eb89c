#include "codec/yaml_marks.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>

#include "codec/yaml_events.h"

namespace berth::codec {
namespace {

/// The paths that a caller wants, as a tree. The steps of a path are keys ("spec") and positions
/// ("[0]").
struct Wanted {
  std::map<std::string, std::unique_ptr<Wanted>, std::less<>> below;
  std::vector<size_t> answers;  // The positions of the paths that end here.
  std::optional<TextMark> mark;
};

/// Cuts the first step off a path.
std::string_view TakeStep(std::string_view& path) {
  const size_t end = std::min(path.find_first_of(".[", 1), path.size());
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(end);
  if (path.starts_with('.')) path.remove_prefix(1);
  return step;
}

std::unique_ptr<Wanted> TreeOf(std::span<const std::string> paths) {
  auto root = std::make_unique<Wanted>();
  for (size_t i = 0; i < paths.size(); ++i) {
    Wanted* at = root.get();
    for (std::string_view rest = paths[i]; !rest.empty();) {
      std::unique_ptr<Wanted>& next = at->below[std::string(TakeStep(rest))];
      if (next == nullptr) next = std::make_unique<Wanted>();
      at = next.get();
    }
    at->answers.push_back(i);
  }
  return root;
}

void CollectMarks(const Wanted& wanted, TextMark above, std::vector<TextMark>& marks) {
  const TextMark mark = wanted.mark.value_or(above);
  for (const size_t answer : wanted.answers) marks[answer] = mark;
  for (const auto& [step, below] : wanted.below) CollectMarks(*below, mark, marks);
}

/// Walks over the events of a text. It recurses only along the wanted paths.
class MarkWalk {
 public:
  explicit MarkWalk(std::string_view text) : events_(text) {}

  void Run(Wanted& root) {
    Step();  // The start of the stream,
    Step();  // and of a document.
    Step();
    Visit(root);
  }

 private:
  void Step() { ended_ = ended_ || !events_.Next() || Type() == YAML_STREAM_END_EVENT; }

  yaml_event_type_t Type() const { return events_.Get().type; }

  // Visits the node that starts at the current event, up to its last event.
  void Visit(Wanted& wanted) {
    if (ended_) return;
    const yaml_mark_t& start = events_.Get().start_mark;
    wanted.mark = TextMark{.line = start.line + 1, .column = start.column + 1};
    if (Type() == YAML_SEQUENCE_START_EVENT) {
      VisitSequence(wanted);
    } else if (Type() == YAML_MAPPING_START_EVENT) {
      VisitMapping(wanted);
    }
  }

  void VisitOrSkip(Wanted& parent, std::string_view step) {
    const auto found = parent.below.find(step);
    if (found == parent.below.end()) {
      Skip();
    } else {
      Visit(*found->second);
    }
  }

  void VisitSequence(Wanted& wanted) {
    size_t index = 0;
    for (Step(); !ended_ && Type() != YAML_SEQUENCE_END_EVENT; Step()) {
      VisitOrSkip(wanted, fmt::format("[{}]", index++));
    }
  }

  void VisitMapping(Wanted& wanted) {
    for (Step(); !ended_ && Type() != YAML_MAPPING_END_EVENT; Step()) {
      if (Type() != YAML_SCALAR_EVENT) {  // A key that no path names.
        Skip();
        Step();
        Skip();
        continue;
      }
      const auto& scalar = events_.Get().data.scalar;
      const std::string key(reinterpret_cast<const char*>(scalar.value), scalar.length);
      Step();
      VisitOrSkip(wanted, key);
    }
  }

  void Skip() {
    for (size_t depth = 0; !ended_; Step()) {
      const yaml_event_type_t type = Type();
      if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) ++depth;
      if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) --depth;
      if (depth == 0) return;
    }
  }

  YamlEvents events_;
  bool ended_ = false;
};

/// JSON writes characters beyond 16 bits as two escapes (\ud83d\ude00), which YAML does not have.
/// Returns the text with other escapes of the same length in their place.
std::string WithoutSurrogates(std::string_view text) {
  std::string out(text);
  for (size_t at = out.find('\\'); at < out.size(); at = out.find('\\', at)) {
    const std::string_view escape = std::string_view(out).substr(at, 4);
    const bool surrogate = escape.size() == 4 && escape[1] == 'u' &&
                           (escape[2] == 'd' || escape[2] == 'D') && escape[3] > '7';
    if (surrogate) out[at + 2] = '0';
    at += 2;
  }
  return out;
}

bool MayHaveSurrogates(std::string_view text) {
  return text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
}

}  // namespace

std::vector<TextMark> LocateYaml(std::string_view text, std::span<const std::string> paths) {
  const std::string readable = MayHaveSurrogates(text) ? WithoutSurrogates(text) : std::string();
  const std::unique_ptr<Wanted> root = TreeOf(paths);
  MarkWalk(readable.empty() ? text : readable).Run(*root);
  std::vector<TextMark> marks(paths.size());
  CollectMarks(*root, {}, marks);
  return marks;
}

std::optional<YamlFault> FindYamlFault(std::string_view text) {
  YamlEvents events(text);
  while (events.Next()) {
    if (events.Get().type == YAML_STREAM_END_EVENT) return std::nullopt;
  }
  if (const auto bad = events.BadByte()) {
    const std::string_view before = text.substr(0, std::min(*bad, text.size()));
    const auto lines = static_cast<size_t>(std::ranges::count(before, '\n'));
    return YamlFault{.mark = {.line = lines + 1, .column = before.size() - before.rfind('\n')},
                     .problem = std::string(events.Problem())};
  }
  const yaml_mark_t mark = events.ProblemMark();
  return YamlFault{.mark = {.line = mark.line + 1, .column = mark.column + 1},
                   .problem = std::string(events.Problem())};
}

}  // namespace berth::codec
