// For tests only: reads the types that web/src/api.ts declares, and says where a document is not of
// its type. It knows as much of TypeScript as that file uses: interfaces, names for unions, arrays,
// tuples, records and texts in quotes.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/value.h"

namespace berth::cli {

class ApiTypes {
 public:
  ApiTypes() {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "../../../../web/src/api.ts";
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text = std::regex_replace(text, std::regex(R"(/\*[^]*?\*/)"), "");
    text = std::regex_replace(text, std::regex("//[^\n]*"), "");
    Declare(text);
  }

  bool empty() const { return types_.empty(); }

  /// Returns a sentence for each place where the value is not of the type.
  std::vector<std::string> Problems(const codec::Value& value, std::string_view type) const {
    std::vector<std::string> problems;
    Check(value, Trimmed(type), "$", problems);
    return problems;
  }

 private:
  static std::string Trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
  }

  /// Returns the parts of a text between characters that stand in no brackets or quotes.
  static std::vector<std::string> Split(std::string_view text, char at) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
      if (c == '"') quoted = !quoted;
      if (!quoted && std::string_view("{[<(").find(c) != std::string_view::npos) ++depth;
      if (!quoted && std::string_view("}]>)").find(c) != std::string_view::npos) --depth;
      if (c == at && depth == 0 && !quoted) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    std::vector<std::string> found;
    for (const std::string& part : parts) {
      if (const std::string trimmed = Trimmed(part); !trimmed.empty()) found.push_back(trimmed);
    }
    return found;
  }

  void Declare(const std::string& text) {
    static const std::regex type_pattern(R"(export type (\w+) =([^;]*);)");
    for (std::sregex_iterator at(text.begin(), text.end(), type_pattern), end; at != end; ++at) {
      types_[(*at)[1]] = Trimmed((*at)[2].str());
    }
    static const std::regex interface_pattern(
        R"(export interface (\w+)(?: extends (\w+))? (\{[^]*?\n\}))");
    for (std::sregex_iterator at(text.begin(), text.end(), interface_pattern), end; at != end;
         ++at) {
      types_[(*at)[1]] = (*at)[3].str();
      if ((*at)[2].matched) bases_[(*at)[1]] = (*at)[2].str();
    }
  }

  using Members = std::map<std::string, std::string>;

  Members MembersOf(std::string_view braces) const {
    Members members;
    for (const std::string& member : Split(braces.substr(1, braces.size() - 2), ';')) {
      const size_t colon = member.find(':');
      members[Trimmed(member.substr(0, colon))] = Trimmed(member.substr(colon + 1));
    }
    return members;
  }

  void CheckObject(const codec::Value& value, const Members& members, const std::string& path,
                   std::vector<std::string>& problems) const {
    const codec::Object* object = value.AsObject();
    if (object == nullptr) return problems.push_back(path + " is no object");
    for (const auto& [name, type] : members) {
      const codec::Value* member = object->Find(name);
      if (member == nullptr) {
        problems.push_back(fmt::format("{}.{} is missing", path, name));
      } else {
        Check(*member, type, fmt::format("{}.{}", path, name), problems);
      }
    }
    for (const codec::Member& member : *object) {
      if (!members.contains(member.key)) {
        problems.push_back(fmt::format("{}.{} is not declared", path, member.key));
      }
    }
  }

  void CheckArray(const codec::Value& value, const std::string& type, const std::string& path,
                  std::vector<std::string>& problems) const {
    const codec::Array* array = value.AsArray();
    if (array == nullptr) return problems.push_back(path + " is no array");
    if (type.ends_with("[]")) {
      std::string item = type.substr(0, type.size() - 2);
      if (item.starts_with("(")) item = item.substr(1, item.size() - 2);
      for (size_t i = 0; i < array->size(); ++i) {
        Check((*array)[i], item, fmt::format("{}[{}]", path, i), problems);
      }
      return;
    }
    const auto items = Split(std::string_view(type).substr(1, type.size() - 2), ',');
    if (items.size() != array->size()) return problems.push_back(path + " has another length");
    for (size_t i = 0; i < items.size(); ++i) {
      Check((*array)[i], items[i], fmt::format("{}[{}]", path, i), problems);
    }
  }

  void Check(const codec::Value& value, const std::string& type, const std::string& path,
             std::vector<std::string>& problems) const {
    const auto alternatives = Split(type, '|');
    std::vector<std::string> found;
    for (const std::string& each : alternatives) {
      std::vector<std::string> here;
      CheckOne(value, each, path, here);
      if (here.empty()) return;
      if (each != "null") found = here;
    }
    problems.insert(problems.end(), found.begin(), found.end());
  }

  void CheckOne(const codec::Value& value, const std::string& type, const std::string& path,
                std::vector<std::string>& problems) const {
    const auto expect = [&](bool holds) {
      if (!holds) problems.push_back(fmt::format("{} is not {}", path, type));
    };
    if (type == "string") return expect(value.AsString() != nullptr);
    if (type == "number") return expect(value.AsDouble().has_value());
    if (type == "boolean") return expect(value.AsBool().has_value());
    if (type == "null") return expect(value.IsNull());
    if (type.starts_with('"')) {
      return expect(value.AsString() != nullptr && "\"" + *value.AsString() + "\"" == type);
    }
    constexpr std::string_view kRecord = "Record<string,";
    if (type.starts_with(kRecord)) {
      if (value.AsObject() == nullptr) return expect(false);
      const std::string item =
          Trimmed(type.substr(kRecord.size(), type.size() - kRecord.size() - 1));
      for (const codec::Member& member : *value.AsObject()) {
        Check(member.value, item, fmt::format("{}.{}", path, member.key), problems);
      }
      return;
    }
    if (type.ends_with("[]") || type.starts_with('[')) {
      return CheckArray(value, type, path, problems);
    }
    if (type.starts_with('{')) return CheckObject(value, MembersOf(type), path, problems);
    const auto named = types_.find(type);
    if (named == types_.end()) return expect(false);
    if (!named->second.starts_with('{')) return Check(value, named->second, path, problems);
    Members members = MembersOf(named->second);
    for (auto base = bases_.find(type); base != bases_.end(); base = bases_.find(base->second)) {
      members.merge(MembersOf(types_.at(base->second)));
    }
    CheckObject(value, members, path, problems);
  }

  std::map<std::string, std::string> types_;
  std::map<std::string, std::string> bases_;
};

}  // namespace berth::cli
