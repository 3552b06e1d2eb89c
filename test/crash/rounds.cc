#include "crash/rounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <thread>

namespace crash {

namespace {

constexpr std::chrono::seconds kPatience{60};

Round MakeLook() {
  return {.arguments = {{"writers", "0"}}, .environment = {}, .end = [](Child& writer) {
            static_cast<void>(writer.Wait(kPatience));
          }};
}

}  // namespace

OpLog Rounds::Start(const Round& round, const std::string& directory, int64_t from,
                    int64_t compact) {
  std::filesystem::remove(LogPath());
  std::vector<std::string> command = {writer_,
                                      "dir=" + directory,
                                      "log=" + LogPath(),
                                      fmt::format("round={}", round_),
                                      fmt::format("seed={}", seed_),
                                      fmt::format("from={}", from),
                                      fmt::format("compact={}", compact)};
  for (const auto& [name, value] : round.arguments) {
    command.push_back(fmt::format("{}={}", name, value));
  }
  Child writer(command, round.environment, OutputPath());
  round.end(writer);
  writer.Kill();
  static_cast<void>(writer.Wait(kPatience));
  return ParseOpLog(ReadFile(LogPath()));
}

std::vector<std::string> Rounds::Run(const Round& round) {
  ++round_;
  std::filesystem::create_directory(DataDirectory());
  // The files of libfaultfs.so beside the directory are useless once a program has run without it.
  if (round.environment.empty()) std::filesystem::remove(DataDirectory() + ".state");
  if (!std::filesystem::exists(DataDirectory() + ".state")) {
    std::filesystem::remove_all(DataDirectory() + ".shadow");
  }
  const int64_t from = history_.PickFrom(random_);
  const int64_t compact = berth::base::Uniform(random_, 5) == 0 ? history_.PickFrom(random_) : 0;
  log_ = Start(round, DataDirectory(), from, compact);
  auto faults = history_.Judge(log_, from);
  history_.Forget(compact);
  for (std::string& fault : faults) {
    fault = fmt::format("seed {}, round {}: {}", seed_, round_, fault);
  }
  if (!faults.empty()) {
    faults.push_back(fmt::format("faults played: {}", fmt::join(log_.faults, "; ")));
    faults.push_back("the writer's log: " + ReadFile(OutputPath()));
  }
  return faults;
}

void Rounds::WaitUntil(Child& writer, std::string_view told) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::string line = fmt::format("\n{}", told);
  while (std::chrono::steady_clock::now() < deadline) {
    const std::string text = ReadFile(LogPath());
    if (text.starts_with(told) || text.find(line) != std::string::npos) return;
    if (writer.Wait(std::chrono::milliseconds(1)).has_value()) return;
  }
}

void Rounds::StartOver() {
  ++directories_;
  history_.StartOver();
}

std::vector<std::string> Rounds::Look() {
  auto faults = Run(MakeLook());
  if (!log_.ready && log_.error.empty()) {
    faults.emplace_back("the store could not be opened in time");
  }
  return faults;
}

std::vector<std::string> Rounds::LookAt(const std::string& copy) {
  const int64_t from = history_.PickFrom(random_);
  log_ = Start(MakeLook(), copy, from, 0);
  return History(history_).Judge(log_, from);
}

std::string Rounds::DataDirectory() const {
  return fmt::format("{}/data{}", directory_.Path(), directories_);
}

std::string Rounds::OutputPath() const { return directory_.Path() + "/output"; }

std::string Rounds::LogPath() const { return directory_.Path() + "/oplog"; }

std::string Rounds::Describe() const {
  const Counts& counts = GetCounts();
  return fmt::format(
      "seed {}: {} writers started, {} checks of what was left; {} writes acknowledged, {} in "
      "doubt "
      "(kept {}, not kept {}), {} conflicts, {} refused; {} events compared",
      seed_, round_, counts.rounds, counts.acknowledged, counts.kept + counts.not_kept, counts.kept,
      counts.not_kept, counts.conflicts, counts.refused, counts.events);
}

std::string Join(const std::vector<std::string>& faults) {
  std::string text;
  for (size_t i = 0; i < faults.size() && i < 10; ++i) text += faults[i] + "\n";
  if (faults.size() > 10) text += fmt::format("and {} more\n", faults.size() - 10);
  return text;
}

}  // namespace crash
