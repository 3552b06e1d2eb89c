#include "server/health.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::server {

std::vector<const Health::Named*> Health::ChecksOf(std::string_view endpoint) const {
  std::vector<const Named*> checks;
  for (const Named& each : live_) checks.push_back(&each);
  if (endpoint != "livez") {
    for (const Named& each : ready_) checks.push_back(&each);
  }
  return checks;
}

std::optional<Health::Answer> Health::Ask(std::string_view path, const Query& query) const {
  path.remove_prefix(1);
  const size_t slash = std::min(path.find('/'), path.size());
  const std::string_view endpoint = path.substr(0, slash);
  const std::string_view only = path.substr(std::min(slash + 1, path.size()));
  const std::vector<std::string_view> excluded = query.All("exclude");
  std::string text;
  bool fine = true;
  bool found = only.empty();
  for (const Named* each : ChecksOf(endpoint)) {
    if (!only.empty() && each->name != only) continue;
    found = true;
    if (std::find(excluded.begin(), excluded.end(), each->name) != excluded.end()) {
      text += fmt::format("[+]{} excluded: ok\n", each->name);
      continue;
    }
    const auto trouble = each->check();
    fine = fine && !trouble;
    text += trouble ? fmt::format("[-]{} failed: {}\n", each->name, *trouble)
                    : fmt::format("[+]{} ok\n", each->name);
  }
  if (!found) return std::nullopt;
  if (!fine) return Answer{.code = 500, .text = text + fmt::format("{} check failed\n", endpoint)};
  if (query.Find("verbose") == nullptr) return Answer{.text = "ok"};
  return Answer{.text = text + fmt::format("{} check passed\n", endpoint)};
}

}  // namespace berth::server
