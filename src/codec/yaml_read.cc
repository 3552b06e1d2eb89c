#include "codec/yaml_read.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>
#include <yaml.h>

#include <optional>
#include <utility>

#include "base/escape.h"
#include "base/go_text.h"
#include "codec/json_dom.h"
#include "codec/scalar.h"
#include "codec/yaml_scalar.h"

namespace berth::codec {
namespace {

constexpr size_t kMostDuplicates = 100;

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// libyaml's parser and the event it is at.
class Events {
 public:
  explicit Events(std::string_view text) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Events() {
    yaml_event_delete(&event_);
    if (ready_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  const yaml_event_t& Get() const { return event_; }

  bool Next() {
    yaml_event_delete(&event_);
    return ready_ && yaml_parser_parse(&parser_, &event_) != 0;
  }

  /// What is wrong with the text, in the words and with the line numbers of Go's reader.
  std::string Fault() const {
    if (!ready_ || parser_.problem == nullptr) return "yaml: unknown problem parsing YAML content";
    size_t line = parser_.problem_mark.line;
    if (line != 0) {
      if (parser_.error == YAML_SCANNER_ERROR) ++line;
    } else {
      line = parser_.context_mark.line;
    }
    if (line == 0) return fmt::format("yaml: {}", parser_.problem);
    return fmt::format("yaml: line {}: {}", line, parser_.problem);
  }

 private:
  yaml_parser_t parser_;
  yaml_event_t event_ = {};
  bool ready_ = false;
};

// A node and how large it is: text and a little for each node, about what it would take as JSON.
struct Node {
  Value value;
  size_t weight = 0;
};

constexpr size_t kNodeWeight = 2;

// Recurses once per level, within the limit on depth.
class Reader {
 public:
  Reader(std::string_view text, const JsonLimits& limits)
      : events_(text), limits_(limits), levels_left_(EffectiveDepth(limits)) {}

  base::Result<YamlDocument> Read() {
    Step();  // The beginning of the stream,
    Step();  // and of a document.
    Value value;
    if (!fault_ && events_.Get().type != YAML_STREAM_END_EVENT) {
      Step();
      value = ReadNode().value;
      Step();
      Step();
      if (!fault_ && events_.Get().type != YAML_STREAM_END_EVENT) {
        Fail("yaml: there is more than one document");
      }
    }
    if (fault_) return base::Fail(base::Reason::kBadRequest, std::move(*fault_));
    return YamlDocument{.value = std::move(value), .duplicates = std::move(duplicates_)};
  }

 private:
  void Step() {
    if (!fault_ && !events_.Next()) Fail(events_.Fault());
  }

  // Of the node at the present event; leaves the last event of it.
  Node ReadNode() {
    if (fault_) return {};
    const yaml_event_t& event = events_.Get();
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return ReadAlias(std::string(View(event.data.alias.anchor)));
      case YAML_SCALAR_EVENT: {
        const std::string anchor(View(event.data.scalar.anchor));
        return Keep(anchor, ReadScalar());
      }
      case YAML_SEQUENCE_START_EVENT: {
        const std::string anchor(View(event.data.sequence_start.anchor));
        CheckTag(View(event.data.sequence_start.tag), "tag:yaml.org,2002:seq");
        return Keep(anchor, ReadContainer(anchor, &Reader::ReadSequence));
      }
      case YAML_MAPPING_START_EVENT: {
        const std::string anchor(View(event.data.mapping_start.anchor));
        CheckTag(View(event.data.mapping_start.tag), "tag:yaml.org,2002:map");
        return Keep(anchor, ReadContainer(anchor, &Reader::ReadMapping));
      }
      default:
        Fail("yaml: unknown problem parsing YAML content");
        return {};
    }
  }

  Node ReadScalar() {
    const auto& scalar = events_.Get().data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const std::string_view tag = View(scalar.tag);
    Node node{.value = {}, .weight = kNodeWeight + text.size()};
    const bool is_string = tag == "!" || (tag.empty() && scalar.style != YAML_PLAIN_SCALAR_STYLE);
    if (is_string) {
      node.value = text;
      return node;
    }
    auto value = tag.empty() ? ResolvePlain(text) : ResolveTagged(tag, text);
    if (value) {
      node.value = std::move(*value);
    } else {
      Fail(std::move(value.error().message));
    }
    return node;
  }

  Node ReadAlias(const std::string& name) {
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      Fail(fmt::format("yaml: unknown anchor '{}' referenced", base::ToVisible(name)));
      return {};
    }
    if (!found->second) {
      Fail(fmt::format("yaml: anchor '{}' value contains itself", base::ToVisible(name)));
      return {};
    }
    if (!Spend(found->second->weight)) return {};
    return *found->second;
  }

  // Remembers a node that has a name, as a copy. Copies count: names inside names would otherwise
  // multiply a document by its depth.
  Node Keep(const std::string& anchor, Node node) {
    if (!anchor.empty() && !fault_ && Spend(node.weight)) anchors_[anchor] = node;
    return node;
  }

  bool Spend(size_t weight) {
    spent_ += weight;
    if (spent_ <= limits_.bytes) return true;
    Fail(
        fmt::format("yaml: with all aliases followed the document is larger than the limit of {} "
                    "bytes",
                    limits_.bytes));
    return false;
  }

  Node ReadContainer(const std::string& anchor, Node (Reader::*read)()) {
    if (!anchor.empty()) anchors_[anchor] = std::nullopt;  // Until it is complete.
    if (levels_left_ == 0) {
      Fail(fmt::format("yaml: sequences and mappings are nested more than {} deep",
                       EffectiveDepth(limits_)));
      return {};
    }
    --levels_left_;
    Node node = (this->*read)();
    ++levels_left_;
    return node;
  }

  Node ReadSequence() {
    Array array;
    size_t weight = kNodeWeight;
    for (Step(); !fault_ && events_.Get().type != YAML_SEQUENCE_END_EVENT; Step()) {
      path_.push_back({.key = {}, .index = array.size()});
      Node item = ReadNode();
      path_.pop_back();
      weight += item.weight;
      array.push_back(std::move(item.value));
    }
    return {.value = std::move(array), .weight = weight};
  }

  Node ReadMapping() {
    Object object;
    size_t weight = kNodeWeight;
    for (Step(); !fault_ && events_.Get().type != YAML_MAPPING_END_EVENT; Step()) {
      std::string key = ReadKey();
      Step();
      if (fault_) break;
      path_.push_back({.key = key, .index = kNoIndex});
      if (object.Find(key) != nullptr) NoteDuplicate(key, events_.Get().start_mark.line + 1);
      Node item = ReadNode();
      path_.pop_back();
      weight += key.size() + item.weight;
      object.Set(std::move(key), std::move(item.value));
    }
    return {.value = std::move(object), .weight = weight};
  }

  // As JSON, whose keys are strings.
  std::string ReadKey() {
    const yaml_event_t& event = events_.Get();
    if (event.type == YAML_SCALAR_EVENT && event.data.scalar.plain_implicit != 0 &&
        View(event.data.scalar.value) == "<<") {
      Fail("yaml: merge keys (<<) are not supported");
      return {};
    }
    const Node node = ReadNode();
    if (const std::string* text = node.value.AsString()) return *text;
    const Kind kind = node.value.GetKind();
    if (kind == Kind::kNull || kind == Kind::kArray || kind == Kind::kObject) {
      Fail("yaml: a key of a mapping is neither a string nor a number nor a boolean");
      return {};
    }
    std::string text;
    AppendPlainScalar(text, node.value);
    return text;
  }

  void NoteDuplicate(const std::string& key, size_t line) {
    if (duplicates_.size() < kMostDuplicates) {
      duplicates_.push_back({.path = Path(), .key = key, .line = line});
    }
  }

  void CheckTag(std::string_view tag, std::string_view usual) {
    if (tag.empty() || tag == "!" || tag == usual) return;
    Fail(fmt::format("yaml: {} is a tag that is not supported", base::GoQuoted(tag)));
  }

  std::string Path() const {
    std::string path;
    for (const Segment& segment : path_) {
      if (segment.index != kNoIndex) {
        path += '[';
        AppendInteger(path, segment.index);
        path += ']';
      } else {
        if (!path.empty()) path += '.';
        path += segment.key;
      }
    }
    return path;
  }

  void Fail(std::string what) {
    if (!fault_) fault_ = std::move(what);
  }

  static constexpr size_t kNoIndex = SIZE_MAX;
  struct Segment {
    std::string key;
    size_t index;
  };

  Events events_;
  const JsonLimits limits_;
  size_t levels_left_;
  size_t spent_ = 0;
  std::vector<Segment> path_;
  absl::flat_hash_map<std::string, std::optional<Node>> anchors_;
  std::vector<DuplicateKey> duplicates_;
  std::optional<std::string> fault_;
};

}  // namespace

base::Result<YamlDocument> ParseYaml(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("yaml: {} bytes, which is more than the limit of {} bytes",
                                  text.size(), limits.bytes));
  }
  return Reader(text, limits).Read();
}

}  // namespace berth::codec
