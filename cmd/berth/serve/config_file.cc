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

std::optional<std::string> JoinedText(const Value& value) {
  const codec::Array* list = value.AsArray();
  if (list == nullptr) return TextOf(value);
  std::string joined;
  for (const Value& each : *list) {
    const auto text = TextOf(each);
    if (!text) return std::nullopt;
    joined += (joined.empty() ? "" : ",") + *text;
  }
  return joined;
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
  std::map<std::string, std::string> settings;
  if (document->value.IsNull()) return settings;
  const codec::Object* members = document->value.AsObject();
  if (members == nullptr) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("--config: {} must hold one setting per line, named as its flag "
                                  "(secure-port: 6443)",
                                  path));
  }
  for (const codec::Member& member : *members) {
    const auto value = JoinedText(member.value);
    if (!value) {
      return base::Fail(base::Reason::kInvalid,
                        fmt::format("--config: {}: {} must be a text, a number or a list of them",
                                    path, member.key));
    }
    settings[member.key] = *value;
  }
  return settings;
}

}  // namespace berth::cli
