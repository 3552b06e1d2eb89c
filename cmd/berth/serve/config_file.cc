#include "berth/serve/config_file.h"

#include <fmt/format.h>

#include <optional>

#include "berth/files.h"
#include "codec/yaml_read.h"

namespace berth::cli {
namespace {

using codec::Value;

std::optional<std::string> TextOf(const Value& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (const auto number = value.AsInt()) return std::to_string(*number);
  if (const auto flag = value.AsBool()) return *flag ? "true" : "false";
  return std::nullopt;
}

/// Joins the entries of a list, or the `name=value` of a map, by commas, as on the command line.
std::optional<std::string> JoinedText(const Value& value) {
  std::string joined;
  const auto add = [&joined](const std::string& prefix, const Value& each) {
    const auto text = TextOf(each);
    if (text) joined += (joined.empty() ? "" : ",") + prefix + *text;
    return text.has_value();
  };
  if (const codec::Array* list = value.AsArray()) {
    for (const Value& each : *list) {
      if (!add("", each)) return std::nullopt;
    }
    return joined;
  }
  if (const codec::Object* map = value.AsObject()) {
    for (const codec::Member& each : *map) {
      if (!add(each.key + "=", each.value)) return std::nullopt;
    }
    return joined;
  }
  return TextOf(value);
}

}  // namespace

base::Result<std::map<std::string, std::string>> ReadConfigFile(const std::string& path) {
  const auto text = ReadFlagFile("--config", path);
  if (!text) return tl::unexpected(text.error());
  const auto document = codec::ParseYaml(*text);
  if (!document) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("--config: {}: {}", path, document.error().message));
  }
  if (!document->duplicates.empty()) {
    const codec::DuplicateKey& again = document->duplicates.front();
    return base::Fail(base::Reason::kInvalid, fmt::format("--config: {}: line {}: {} is set twice",
                                                          path, again.line, again.key));
  }
  std::map<std::string, std::string> settings;
  if (document->value.IsNull()) return settings;
  const codec::Object* members = document->value.AsObject();
  if (members == nullptr) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("--config: {} must contain one setting per line, named like its "
                                  "flag (secure-port: 6443)",
                                  path));
  }
  for (const codec::Member& member : *members) {
    const auto value = JoinedText(member.value);
    if (!value) {
      return base::Fail(base::Reason::kInvalid,
                        fmt::format("--config: {}: {} must be a string, a whole number, or a list "
                                    "or map of them",
                                    path, member.key));
    }
    settings[member.key] = *value;
  }
  return settings;
}

}  // namespace berth::cli
