// Surroundings for tests: files and variables in memory, a clock that stands still, and a runner
// that plays credential plugins. For tests only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/surroundings.h"

namespace berth::kube {

inline constexpr const char* kTestPem = "-----BEGIN THING-----\nAAAA\n-----END THING-----\n";

/// Returns what it was told to return, and remembers how it was called.
class PlayedRunner final : public PluginRunner {
 public:
  base::Result<PluginRun> Run(const PluginCommand& command) override {
    commands.push_back(command);
    if (runs.empty()) return base::Fail(base::Reason::kNotFound, "No such file or directory");
    base::Result<PluginRun> run = std::move(runs.front());
    runs.pop_front();
    return run;
  }

  /// Plays a run that succeeds with this output.
  void Print(std::string output) { runs.emplace_back(PluginRun{.output = std::move(output)}); }

  std::deque<base::Result<PluginRun>> runs;
  std::vector<PluginCommand> commands;
};

class TestMachine {
 public:
  Surroundings Around() {
    Surroundings around{.read_file = [this](const std::string& path) { return Read(path); },
                        .stdin_is_terminal = terminal,
                        .runner = runner,
                        .clock = &clock,
                        .show = [this](std::string_view text) { shown += text; }};
    for (const auto& [name, value] : variables) around.environment.push_back(name + "=" + value);
    return around;
  }

  base::Result<std::string> Read(const std::string& path) const {
    const auto found = files.find(path);
    if (found == files.end()) {
      return base::Fail(base::Reason::kNotFound, "No such file or directory");
    }
    return found->second;
  }

  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables{{"HOME", "/home/jane"}};
  bool terminal = false;
  std::string shown;
  base::ManualClock clock{base::WallTime(std::chrono::seconds(1'800'000'000))};  // 2027-01-15
  std::shared_ptr<PlayedRunner> runner = std::make_shared<PlayedRunner>();
};

}  // namespace berth::kube
