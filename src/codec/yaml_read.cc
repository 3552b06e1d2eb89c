#include "codec/yaml_read.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/escape.h"
#include "base/go_text.h"
#include "codec/json_dom.h"
#include "codec/scalar.h"
#include "codec/yaml_events.h"
#include "codec/yaml_scalar.h"

namespace berth::codec {
namespace {

constexpr size_t kMostDuplicates = 100;

// A node and its size: its text and a little for each node, about the size of its JSON.
struct Node {
  Value value;
  size_t weight = 0;
};

constexpr size_t kNodeWeight = 2;

// Recurses once per level, within the limit on depth.
class YamlReader {
 public:
  YamlReader(std::string_view text, const JsonLimits& limits, MergeKeys merge_keys)
      : events_(text),
        limits_(limits),
        merge_keys_(merge_keys),
        levels_left_(EffectiveDepth(limits)) {}

  base::Result<YamlDocument> Read() {
    Step();  // The start of the stream,
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

  // Reads the node that starts at the current event, up to its last event.
  Node ReadNode() {
    if (fault_) return {};
    const yaml_event_t& event = events_.Get();
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return ReadAlias(std::string(YamlText(event.data.alias.anchor)));
      case YAML_SCALAR_EVENT: {
        const std::string anchor(YamlText(event.data.scalar.anchor));
        return Keep(anchor, ReadScalar());
      }
      case YAML_SEQUENCE_START_EVENT: {
        const std::string anchor(YamlText(event.data.sequence_start.anchor));
        CheckTag(YamlText(event.data.sequence_start.tag), "tag:yaml.org,2002:seq");
        return Keep(anchor, ReadContainer(anchor, &YamlReader::ReadSequence));
      }
      case YAML_MAPPING_START_EVENT: {
        const std::string anchor(YamlText(event.data.mapping_start.anchor));
        CheckTag(YamlText(event.data.mapping_start.tag), "tag:yaml.org,2002:map");
        return Keep(anchor, ReadContainer(anchor, &YamlReader::ReadMapping));
      }
      default:
        Fail("yaml: unknown problem parsing YAML content");
        return {};
    }
  }

  Node ReadScalar() {
    const auto& scalar = events_.Get().data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const std::string_view tag = YamlText(scalar.tag);
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

  // Remembers a copy of a node that has an anchor. Copies count towards the limit: anchors inside
  // anchors would otherwise multiply a document by its depth.
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

  Node ReadContainer(const std::string& anchor, Node (YamlReader::*read)()) {
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
    std::vector<Value> merged;
    size_t weight = kNodeWeight;
    for (Step(); !fault_ && events_.Get().type != YAML_MAPPING_END_EVENT; Step()) {
      if (merge_keys_ == MergeKeys::kFollow && IsMergeKey()) {
        Step();
        Node item = ReadNode();
        weight += item.weight;
        merged.push_back(std::move(item.value));
        continue;
      }
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
    for (Value& value : merged) Merge(std::move(value), object);
    return {.value = std::move(object), .weight = weight};
  }

  bool IsMergeKey() const {
    const yaml_event_t& event = events_.Get();
    return event.type == YAML_SCALAR_EVENT && event.data.scalar.plain_implicit != 0 &&
           YamlText(event.data.scalar.value) == "<<";
  }

  // Adds the keys of a mapping, or of a sequence of mappings, that the object does not have.
  void Merge(Value value, Object& object) {
    if (Array* several = value.AsArray()) {
      for (Value& one : *several) {
        if (one.AsArray() == nullptr) Merge(std::move(one), object);
      }
      return;
    }
    Object* from = value.AsObject();
    if (from == nullptr) {
      Fail("yaml: map merge requires map or sequence of maps as the value");
      return;
    }
    for (const Member& member : *from) {
      if (object.Find(member.key) == nullptr) object.Set(member.key, member.value);
    }
  }

  // Returns the key as in JSON, where keys are strings.
  std::string ReadKey() {
    if (IsMergeKey()) {
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

  YamlEvents events_;
  const JsonLimits limits_;
  const MergeKeys merge_keys_;
  size_t levels_left_;
  size_t spent_ = 0;
  std::vector<Segment> path_;
  absl::flat_hash_map<std::string, std::optional<Node>> anchors_;
  std::vector<DuplicateKey> duplicates_;
  std::optional<std::string> fault_;
};

}  // namespace

base::Result<YamlDocument> ParseYaml(std::string_view text, const JsonLimits& limits,
                                     MergeKeys merge_keys) {
  if (text.size() > limits.bytes) {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("yaml: {} bytes, which is more than the limit of {} bytes",
                                  text.size(), limits.bytes));
  }
  return YamlReader(text, limits, merge_keys).Read();
}

}  // namespace berth::codec
