#include "inspect/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/go_text.h"
#include "codec/json.h"
#include "codec/json_items.h"
#include "codec/read.h"
#include "codec/yaml_documents.h"
#include "codec/yaml_read.h"
#include "inspect/cluster_reader.h"

namespace berth::inspect {
namespace {

using codec::TextMark;
using codec::Value;

constexpr codec::JsonLimits kManifestLimits = {.bytes = kMaxManifestBytes};
constexpr std::string_view kIgnoreWord = "berth-lint:";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns whether a text can hold an object that matters here. Most documents of a repository do
/// not, and need not be parsed.
bool MayMatter(std::string_view text) {
  return Contains(text, "kind") && (Contains(text, "Service") || Contains(text, "IPAddress") ||
                                    Contains(text, "allocation.berth.io"));
}

/// Returns whether a text is a list as the API server sends it, whose items do not name their kind.
bool MayBeTypedList(std::string_view text) {
  constexpr std::array<std::string_view, 5> kLists = {"\"ServiceList\"", "\"ServiceCIDRList\"",
                                                      "\"IPAddressList\"", "\"IPRangeList\"",
                                                      "\"NodePortRangeList\""};
  return std::ranges::any_of(kLists,
                             [text](std::string_view list) { return Contains(text, list); });
}

bool IsService(const Value& object) {
  return codec::StringAt(object, "kind") == "Service" &&
         codec::StringAt(object, "apiVersion") == "v1";
}

bool IsRangeOrRecord(const Value& object) {
  const std::string_view version = codec::StringAt(object, "apiVersion");
  const std::string_view kind = codec::StringAt(object, "kind");
  return version.starts_with("allocation.berth.io/") ||
         (version.starts_with("networking.k8s.io/") &&
          (kind == "ServiceCIDR" || kind == "IPAddress"));
}

/// An object of a document, and its path in it.
struct Found {
  Value* object;
  std::string path;  // Empty, or like "items[3]".
};

/// Lets an item of a typed list name its kind, as all other objects do.
void CompleteKind(Value& object, const ObjectType& type) {
  if (type.kind.empty() || object.AsObject() == nullptr || object.Find("kind") != nullptr) return;
  codec::SetAt(object, {"apiVersion"}, type.api_version);
  codec::SetAt(object, {"kind"}, type.kind);
}

/// Finds the objects of a document: itself, or the items of Lists.
void FindObjects(Value& value, const std::string& path, size_t depth, std::vector<Found>& found) {
  Value* items = value.AsArray() != nullptr ? &value : value.Find("items");
  if (items == nullptr || items->AsArray() == nullptr) {
    if (IsService(value) || IsRangeOrRecord(value)) found.push_back({&value, path});
    return;
  }
  if (depth == kMaxListDepth) return;
  std::string prefix = path;
  if (items != &value) prefix += path.empty() ? "items" : ".items";
  const ObjectType type = ItemTypeOf(value);
  codec::Array& array = *items->AsArray();
  for (size_t i = 0; i < array.size(); ++i) {
    CompleteKind(array[i], type);
    FindObjects(array[i], fmt::format("{}[{}]", prefix, i), depth + 1, found);
  }
}

/// Returns the fields of a Service that findings may point to.
std::vector<std::string> FieldsOf(const Value& service) {
  std::vector<std::string> fields = {"", "metadata.name"};
  for (const char* name : {"type", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy",
                           "healthCheckNodePort", "externalTrafficPolicy"}) {
    const Value* value = codec::FindAt(service, "spec", name);
    if (value == nullptr) continue;
    fields.push_back(fmt::format("spec.{}", name));
    const codec::Array* list = value->AsArray();
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      fields.push_back(fmt::format("spec.{}[{}]", name, i));
    }
  }
  const codec::Array& ports = codec::ArrayAt(service, "spec", "ports");
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].Find("nodePort") == nullptr) continue;
    fields.push_back(fmt::format("spec.ports[{}].nodePort", i));
  }
  if (codec::HasAt(service, "metadata", "annotations", kIgnoreAnnotation)) {
    fields.emplace_back("metadata.annotations");
  }
  return fields;
}

std::string Joined(const std::string& path, const std::string& field) {
  if (path.empty() || field.empty()) return path + field;
  return path + "." + field;
}

class ManifestReader {
 public:
  explicit ManifestReader(std::string file) { manifest_.file = std::move(file); }

  Manifest Read(std::string_view text) && {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      AddFault({}, "the text is UTF-16; save it as UTF-8");
      return std::move(manifest_);
    }
    if (!MayMatter(text)) return std::move(manifest_);
    ReadComments(text);
    if (!ReadJson(text)) {
      for (const codec::YamlPiece& piece : codec::SplitYaml(text)) ReadDocument(piece);
    }
    return std::move(manifest_);
  }

 private:
  void AddFault(TextMark mark, std::string_view problem) {
    manifest_.faults.push_back(
        {.mark = mark, .message = fmt::format("the document cannot be read: {}", problem)});
  }

  /// Reads a file of JSON texts, item by item. Returns false if it is not one.
  bool ReadJson(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
    if (MayBeTypedList(text)) {
      auto whole = codec::ParseJson(text, kManifestLimits);
      if (whole) AddObjects(*whole, text, {});
      if (whole) return true;
    }
    size_t seen = 0;  // The lines before it are counted.
    TextMark begin;
    bool good = true;
    const auto done = codec::ForEachJsonItem(text, [&](std::string_view item) {
      const auto at = static_cast<size_t>(item.data() - text.data());
      Advance(text, seen, at, begin);
      seen = at;
      if (!MayMatter(item)) return true;
      auto parsed = codec::ParseJson(item, kManifestLimits);
      good = parsed.has_value();
      if (good) AddObjects(*parsed, item, begin);
      return good;
    });
    if (done && good) return true;
    manifest_.services.clear();
    manifest_.others.clear();
    return false;
  }

  /// Moves a mark from one position of a text to a later one.
  static void Advance(std::string_view text, size_t from, size_t to, TextMark& mark) {
    const std::string_view passed = text.substr(from, to - from);
    const auto lines = static_cast<size_t>(std::ranges::count(passed, '\n'));
    const size_t last = passed.rfind('\n');
    const std::string_view tail = last == std::string_view::npos ? passed : passed.substr(last + 1);
    const auto characters = static_cast<size_t>(std::ranges::count_if(
        tail, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
    mark.line += lines;
    mark.column = (lines == 0 ? mark.column : 1) + characters;
  }

  void ReadDocument(const codec::YamlPiece& piece) {
    if (!MayMatter(piece.text)) return;
    const TextMark begin{.line = piece.line, .column = 1};
    auto parsed = codec::ParseYaml(piece.text, kManifestLimits, codec::MergeKeys::kFollow);
    if (parsed) {
      AddObjects(parsed->value, piece.text, begin);
      return;
    }
    const auto fault = codec::FindYamlFault(piece.text);
    TextMark mark = begin;
    if (fault) mark = {.line = begin.line + fault->mark.line - 1, .column = fault->mark.column};
    if (Contains(piece.text, "{{")) {
      manifest_.faults.push_back({.is_template = true,
                                  .mark = mark,
                                  .message = "this document is a template and was not checked",
                                  .advice = "Render it first: helm template CHART | berth lint -"});
    } else {
      AddFault(mark, base::ToVisible(fault ? fault->problem : parsed.error().message));
    }
  }

  void AddObjects(Value& document, std::string_view text, TextMark begin) {
    std::vector<Found> found;
    FindObjects(document, "", 0, found);
    std::vector<std::string> paths;
    for (const Found& one : found) {
      if (!IsService(*one.object)) continue;
      for (const std::string& field : FieldsOf(*one.object))
        paths.push_back(Joined(one.path, field));
    }
    const std::vector<TextMark> marks = codec::LocateYaml(text, paths);
    size_t next = 0;
    for (const Found& one : found) {
      if (!IsService(*one.object)) {
        manifest_.others.push_back(*one.object);
        continue;
      }
      ManifestService& service = manifest_.services.emplace_back();
      service.object = *one.object;
      // An export has these too. They are large, and no rule looks at them.
      codec::EraseAt(service.object, {"metadata", "managedFields"});
      codec::EraseAt(service.object, {"status"});
      for (const std::string& field : FieldsOf(*one.object)) {
        const TextMark& mark = marks[next++];
        service.marks[field] = {
            .line = begin.line + mark.line - 1,
            .column = mark.line == 1 ? begin.column + mark.column - 1 : mark.column};
      }
    }
  }

  void ReadComments(std::string_view text) {
    size_t line = 1;
    size_t counted = 0;
    for (size_t at = text.find(kIgnoreWord); at != std::string_view::npos;
         at = text.find(kIgnoreWord, at + 1)) {
      line += static_cast<size_t>(std::ranges::count(text.substr(counted, at - counted), '\n'));
      counted = at;
      const size_t begin = text.rfind('\n', at) + 1;  // 0 if there is no line before.
      const std::string_view before = text.substr(begin, at - begin);
      const size_t hash = before.rfind('#');
      if (hash == std::string_view::npos) continue;
      std::string_view rest = text.substr(at + kIgnoreWord.size());
      rest = base::GoTrimSpace(rest.substr(0, rest.find('\n')));
      if (!rest.starts_with("ignore")) continue;
      rest = base::GoTrimSpace(rest.substr(6));
      // A comment on a line of its own is for the line below.
      const bool alone = base::GoTrimSpace(before.substr(0, hash)).empty();
      manifest_.ignores.push_back({.line = alone ? line + 1 : line,
                                   .at = {.line = line, .column = hash + 1},
                                   .rules = std::string(rest.substr(0, rest.find(' ')))});
    }
  }

  Manifest manifest_;
};

}  // namespace

TextMark ManifestService::MarkOf(std::string_view field) const {
  // A manifest may have only the singular field.
  if (field.starts_with("spec.clusterIPs") && !marks.contains("spec.clusterIPs") &&
      marks.contains("spec.clusterIP")) {
    field = "spec.clusterIP";
  }
  while (!field.empty()) {
    if (const auto found = marks.find(field); found != marks.end()) return found->second;
    const size_t end = field.find_last_of(".[");
    field = field.substr(0, end == std::string_view::npos ? 0 : end);
  }
  const auto name = marks.find("metadata.name");
  return name == marks.end() ? TextMark() : name->second;
}

Manifest ReadManifest(std::string file, std::string_view text) {
  return ManifestReader(std::move(file)).Read(text);
}

bool IsPlaceholder(std::string_view text) {
  return Contains(text, "{{") || Contains(text, "${") || Contains(text, "$(");
}

}  // namespace berth::inspect
