// Parses and writes the text of `fieldsV1`.
#include <algorithm>
#include <optional>
#include <utility>

#include "codec/encode.h"
#include "codec/json.h"
#include "merge/field_set.h"

namespace berth::merge {
namespace {

using codec::Value;
using Entry = FieldSet::Entry;
using Level = FieldSet::Level;

// Parses what WriteFieldsV1 writes, directly from the text: ASCII, no escapes but \" and \\, and
// elements in order. It gives up on everything else, which may be valid nevertheless.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : rest_(text) {}

  std::optional<FieldSet> Read() {
    builder_.Reserve(rest_.size() / 16);
    if (!Take('{') || !ReadLevel(kMostLevels) || !rest_.empty()) return std::nullopt;
    return builder_.Finish();
  }

 private:
  static constexpr int kMostLevels = 64;

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Reads a key into key_.
  bool TakeKey() {
    key_.clear();
    if (!Take('"')) return false;
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == '"') {
        rest_.remove_prefix(i + 1);
        return Take(':') && Take('{');
      }
      if (c < ' ' || c > '~') return false;
      if (c == '\\') {
        ++i;
        if (i == rest_.size() || (rest_[i] != '"' && rest_[i] != '\\')) return false;
      }
      key_ += rest_[i];
    }
    return false;
  }

  // Reads a level after its opening brace.
  bool ReadLevel(int levels_left) {
    if (levels_left == 0) return false;
    std::optional<PathElement> last;
    while (!Take('}')) {
      if (last && !Take(',')) return false;
      if (!TakeKey()) return false;
      if (key_ == ".") {
        // If present, it is the first one.
        if (last || levels_left == kMostLevels || !Take('}')) return false;
        builder_.Mark();
        if (!Take(',')) return false;
        if (!TakeKey()) return false;
      }
      auto parsed = ParsePathElement(key_);
      if (!parsed || !parsed->known || (last && !(*last < parsed->element))) return false;
      last = parsed->element;
      if (Take('}')) {
        builder_.Add(std::move(parsed->element));
        continue;
      }
      builder_.Open(std::move(parsed->element));
      if (!ReadLevel(levels_left - 1)) return false;
      builder_.Close();
    }
    return true;
  }

  std::string_view rest_;
  std::string key_;
  FieldSetBuilder builder_;
};

class Reader {
 public:
  base::Result<FieldSet> Read(const Value& root) {
    if (!ReadLevel(root)) return tl::unexpected(error_);
    return builder_.Finish();
  }

 private:
  struct Child {
    PathElement element;
    const Value* below;
  };

  bool Fail(std::string message) {
    error_ = {.reason = base::Reason::kBadRequest, .message = std::move(message)};
    return false;
  }

  bool ReadLevel(const Value& value) {
    std::vector<Child> children;
    if (!Collect(value, children)) return false;
    const auto by_element = [](const Child& a, const Child& b) { return a.element < b.element; };
    if (!std::is_sorted(children.begin(), children.end(), by_element)) {
      std::stable_sort(children.begin(), children.end(), by_element);
    }
    for (auto at = children.begin(); at != children.end();) {
      const auto end = std::upper_bound(at, children.end(), *at, by_element);
      if (!ReadChild({at, end})) return false;
      at = end;
    }
    return true;
  }

  bool Collect(const Value& value, std::vector<Child>& children) {
    if (value.IsNull()) return true;
    const codec::Object* object = value.AsObject();
    if (object == nullptr) return Fail("a part of fieldsV1 is not a JSON object");
    children.reserve(object->size());
    for (const codec::Member& member : *object) {
      if (member.key == ".") continue;
      auto parsed = ParsePathElement(member.key);
      if (!parsed) return Fail("parsing key as path element: " + parsed.error().message);
      if (parsed->known) children.push_back({std::move(parsed->element), &member.value});
    }
    return true;
  }

  // Returns whether there is anything but ".", other than elements of unknown kinds.
  static bool HasBelow(const Value& value) {
    const codec::Object* object = value.AsObject();
    if (object == nullptr) return false;
    return std::any_of(object->begin(), object->end(), [](const codec::Member& member) {
      const std::string_view key = member.key;
      const bool unknown = key.size() >= 2 && key[1] == ':' &&
                           std::string_view("fkvi").find(key[0]) == std::string_view::npos;
      return key != "." && !unknown;
    });
  }

  // Reads an element that may be written in several ways. It is a member if one of them says so. Of
  // the contents below, the last one counts.
  bool ReadChild(std::span<Child> same) {
    const Value* below = nullptr;
    bool member = false;
    for (const Child& child : same) {
      const bool has_below = HasBelow(*child.below);
      if (has_below) below = child.below;
      member = member || !has_below || child.below->Find(".") != nullptr;
    }
    builder_.Open(std::move(same.front().element));
    if (member) builder_.Mark();
    // Read even if it is empty, since it may be malformed.
    const bool good = ReadLevel(below == nullptr ? *same.front().below : *below);
    builder_.Close();
    return good;
  }

  FieldSetBuilder builder_;
  base::Error error_;
};

class Writer {
 public:
  std::string Write(Level level) {
    out_.reserve(24 * level.size() + 2);
    Braces(level, /*self=*/false);
    return std::move(out_);
  }

 private:
  void Braces(Level level, bool self) {
    out_ += '{';
    if (self && !level.empty()) out_ += R"(".":{})";
    for (; !level.empty(); level = Rest(level)) {
      const Entry& entry = First(level);
      if (out_.back() != '{') out_ += ',';
      element_.clear();
      entry.element.AppendTo(element_);
      codec::AppendGoJsonString(out_, element_);
      out_ += ':';
      Braces(entry.Below(), entry.member);
    }
    out_ += '}';
  }

  std::string out_;
  std::string element_;
};

}  // namespace

base::Result<FieldSet> ReadFieldsV1(std::string_view text) {
  if (auto plain = PlainReader(text).Read()) return *std::move(plain);
  const auto document =
      codec::ParseJson(text, {.bytes = SIZE_MAX, .depth = codec::kDeepestAllowed});
  if (!document) return tl::unexpected(document.error());
  return Reader().Read(*document);
}

std::string WriteFieldsV1(const FieldSet& set) { return Writer().Write(set.Entries()); }

}  // namespace berth::merge
