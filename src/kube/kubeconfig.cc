#include "kube/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/go_text.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/yaml_marks.h"
#include "codec/yaml_read.h"

namespace berth::kube {
namespace {

using base::Result;
using codec::Value;

tl::unexpected<base::Error> BadFile(const std::string& file, std::string_view why) {
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("the kubeconfig {} cannot be used: {}", file, why));
}

bool IsAbsent(const Value* value) { return value == nullptr || value->IsNull(); }

/// Reads one of the lists `clusters`, `users` and `contexts`. The body of an entry is in its member
/// `member`.
/// Returns where the items of a list begin.
std::vector<codec::TextMark> LocateItems(std::string_view text, std::string_view list,
                                         size_t count) {
  std::vector<std::string> paths;
  paths.reserve(count);
  for (size_t i = 0; i < count; ++i) paths.push_back(fmt::format("{}[{}]", list, i));
  return codec::LocateYaml(text, paths);
}

Result<ConfigEntries> ReadEntries(std::string_view text, const Value& root, std::string_view list,
                                  std::string_view member, const std::string& file) {
  ConfigEntries entries;
  const Value* value = root.Find(list);
  if (IsAbsent(value)) return entries;
  const codec::Array* items = value->AsArray();
  if (items == nullptr) return BadFile(file, fmt::format("{} is not a list", list));
  const std::vector<codec::TextMark> marks = LocateItems(text, list, items->size());
  for (size_t i = 0; i < items->size(); ++i) {
    const Value& item = (*items)[i];
    const Value* name = item.Find("name");
    if (item.AsObject() == nullptr || (!IsAbsent(name) && name->AsString() == nullptr)) {
      return BadFile(file, fmt::format("{}[{}] in line {} does not have a text as its name; if the "
                                       "name looks like a number or like yes, put it into quotes",
                                       list, i, marks[i].line));
    }
    ConfigEntry entry{
        .name = std::string(codec::StringAt(item, "name")), .file = file, .line = marks[i].line};
    const Value* body = item.Find(member);
    if (!IsAbsent(body)) entry.body = *body;
    if (entry.body.IsNull()) entry.body.MakeObject();
    if (entry.body.AsObject() == nullptr) {
      return BadFile(file, fmt::format("{} of the {} {} in line {} is not a mapping", member,
                                       member, base::GoQuoted(entry.name), entry.line));
    }
    std::string key = entry.name;
    if (!entries.emplace(key, std::move(entry)).second) {
      return BadFile(
          file, fmt::format("{} contains {} twice, in lines {} and {}", list, base::GoQuoted(key),
                            entries.find(key)->second.line, marks[i].line));
    }
  }
  return entries;
}

Result<void> CheckType(const Value& root, const std::string& file) {
  for (const auto& [key, expected] : {std::pair{"apiVersion", "v1"}, std::pair{"kind", "Config"}}) {
    const Value* value = root.Find(key);
    if (IsAbsent(value) || codec::Text(value) == expected) continue;
    return BadFile(file, fmt::format("its {} is {}, not {}", key, codec::WriteJson(*value),
                                     base::GoQuoted(expected)));
  }
  return {};
}

/// Returns the entries of $KUBECONFIG, each once.
std::vector<std::string> SplitPaths(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const std::string_view path = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), path.size() + 1));
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.emplace_back(path);
    }
  }
  return paths;
}

}  // namespace

bool Kubeconfig::IsEmpty() const {
  return current_context.empty() && contexts.empty() && clusters.empty() && users.empty();
}

Result<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& file) {
  Kubeconfig config{.files = {file}};
  const auto parsed = codec::ParseYaml(text, {.bytes = kLargestFile});
  if (!parsed) return BadFile(file, parsed.error().message);
  const Value& root = parsed->value;
  if (root.IsNull()) return config;
  if (root.AsObject() == nullptr) return BadFile(file, "it is not a mapping");
  if (auto typed = CheckType(root, file); !typed) return tl::unexpected(typed.error());
  const Value* current = root.Find("current-context");
  if (!IsAbsent(current) && current->AsString() == nullptr) {
    return BadFile(file,
                   "current-context is not a text; if it looks like a number or like yes, put "
                   "it into quotes");
  }
  config.current_context = codec::Text(current);
  for (const auto& [list, member, into] : {std::tuple{"contexts", "context", &config.contexts},
                                           std::tuple{"clusters", "cluster", &config.clusters},
                                           std::tuple{"users", "user", &config.users}}) {
    auto entries = ReadEntries(text, root, list, member, file);
    if (!entries) return tl::unexpected(std::move(entries.error()));
    *into = *std::move(entries);
  }
  return config;
}

void MergeKubeconfig(Kubeconfig& into, Kubeconfig next) {
  std::move(next.files.begin(), next.files.end(), std::back_inserter(into.files));
  std::move(next.missing.begin(), next.missing.end(), std::back_inserter(into.missing));
  if (into.current_context.empty()) into.current_context = std::move(next.current_context);
  // merge keeps what is there already.
  into.contexts.merge(next.contexts);
  into.clusters.merge(next.clusters);
  into.users.merge(next.users);
}

Result<Kubeconfig> LoadKubeconfig(const std::string& path, const Surroundings& around) {
  std::vector<std::string> paths;
  if (!path.empty()) {
    paths.push_back(path);
  } else if (const std::string listed = around.Variable("KUBECONFIG"); !listed.empty()) {
    paths = SplitPaths(listed);
  } else if (const std::string home = around.Variable("HOME"); !home.empty()) {
    paths.push_back(home + "/.kube/config");
  }
  Kubeconfig config;
  for (const std::string& file : paths) {
    const auto text = around.read_file(file);
    if (!text && text.error().reason == base::Reason::kNotFound && path.empty()) {
      config.missing.push_back(file);
      continue;
    }
    if (!text) {
      return base::Fail(
          base::Reason::kInvalid,
          fmt::format("{}: cannot read {}: {}", path.empty() ? "the kubeconfig" : "--kubeconfig",
                      file, text.error().message));
    }
    auto next = ParseKubeconfig(*text, file);
    if (!next) return next;
    MergeKubeconfig(config, *std::move(next));
  }
  return config;
}

}  // namespace berth::kube
