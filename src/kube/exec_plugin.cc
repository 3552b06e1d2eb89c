#include "kube/exec_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "codec/timestamp.h"

namespace berth::kube {
namespace {

using base::Reason;
using base::Result;

/// A plugin may return a credential that has expired by the clock of this machine. It is used all
/// the same, because the server decides, and the plugin is not run for every request.
constexpr std::chrono::seconds kAskAtMostEvery{10};
constexpr std::chrono::minutes kRefusedAgainAfter{1};
constexpr std::chrono::seconds kPluginTimeLimit{60};
constexpr size_t kMostHintBytes = 4096;

/// Returns text from elsewhere so that it can be printed: lines stay, other controls do not.
std::string PrintableLines(std::string_view text) {
  std::string out;
  text = base::GoTrimSpace(text.substr(0, kMostHintBytes));
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!out.empty()) out += '\n';
    out += base::ToVisible(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
  return out;
}

/// Returns the environment of a plugin. Of several values for a name the last one counts.
std::vector<std::string> PluginEnvironment(const std::vector<std::string>& own,
                                           const ExecSettings& exec, std::string info) {
  std::map<std::string, std::string, std::less<>> values;
  for (const std::string& entry : own) {
    const size_t equals = entry.find('=');
    if (equals != std::string::npos) values[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  for (const auto& [name, value] : exec.environment) values[name] = value;
  values["KUBERNETES_EXEC_INFO"] = std::move(info);
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const auto& [name, value] : values) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

/// Returns how a plugin failed, or an empty text if it succeeded.
std::string FailureOf(const PluginRun& run) {
  switch (run.ending) {
    case PluginRun::Ending::kExited:
      return run.code == 0 ? "" : fmt::format("failed with exit status {}", run.code);
    case PluginRun::Ending::kSignalled:
      return fmt::format("was ended by signal {} ({})", run.code, ::strsignal(run.code));
    case PluginRun::Ending::kTimedOut:
      return fmt::format(
          "did not answer within {} s and was ended; run it by hand to see what it "
          "waits for",
          kPluginTimeLimit.count());
    case PluginRun::Ending::kTooMuchOutput:
      return "printed more than 1 MiB and was ended";
  }
  return "failed";
}

/// Returns whether `used` is this identity.
bool IsSameCredential(const Identity& mine, const Identity& used) {
  return mine.token == used.token && mine.certificate_pem == used.certificate_pem;
}

}  // namespace

ExecPlugin::ExecPlugin(ExecSettings exec, std::string where, codec::Value cluster,
                       Surroundings around)
    : exec_(std::move(exec)),
      where_(std::move(where)),
      cluster_(std::move(cluster)),
      around_(std::move(around)) {}

tl::unexpected<base::Error> ExecPlugin::PluginError(Reason reason, std::string_view what) const {
  return base::Fail(reason, fmt::format("{}: the credential plugin {} {}", where_,
                                        base::GoQuoted(exec_.command), what));
}

Result<bool> ExecPlugin::IsInteractive() const {
  if (exec_.interactive_mode == InteractiveMode::kNever) return false;
  if (exec_.interactive_mode == InteractiveMode::kAlways && !around_.stdin_is_terminal) {
    return PluginError(
        Reason::kInvalid,
        "wants to talk to you (interactiveMode is Always), but standard input is not "
        "a terminal");
  }
  return around_.stdin_is_terminal;
}

Result<PluginRun> ExecPlugin::RunProgram(bool interactive) const {
  auto run = around_.runner->Run(
      {.program = exec_.command,
       .arguments = exec_.arguments,
       .environment = PluginEnvironment(around_.environment, exec_,
                                        ExecInfo(exec_.api_version, interactive, cluster_)),
       .interactive = interactive,
       .time_limit = kPluginTimeLimit});
  if (run) return run;
  if (run.error().reason != Reason::kNotFound) {
    return PluginError(run.error().reason,
                       fmt::format("cannot be started: {}", run.error().message));
  }
  const bool named = exec_.command.find('/') == std::string::npos;
  const std::string hint = PrintableLines(exec_.install_hint);
  return PluginError(Reason::kNotFound, fmt::format("{}; install it, or use another user{}{}",
                                                    named ? "is not on the PATH" : "does not exist",
                                                    hint.empty() ? "" : "\n\n", hint));
}

Result<ExecAnswer> ExecPlugin::Ask() const {
  const auto interactive = IsInteractive();
  if (!interactive) return tl::unexpected(interactive.error());
  const auto run = RunProgram(*interactive);
  if (!run) return tl::unexpected(run.error());
  const std::string errors = PrintableLines(run->errors);
  const std::string after = errors.empty() ? "" : fmt::format("; it wrote:\n{}", errors);
  if (const std::string failure = FailureOf(*run); !failure.empty()) {
    return PluginError(Reason::kUnauthorized, failure + after);
  }
  auto answer = ParseExecAnswer(run->output, exec_.api_version);
  if (!answer) return PluginError(Reason::kUnauthorized, answer.error().message + after);
  if (!errors.empty() && around_.show) around_.show(errors + "\n");
  return answer;
}

bool ExecPlugin::IsUsable() const {
  if (!answer_) return false;
  if (!answer_->expires || around_.clock->Now() < *answer_->expires) return true;
  return around_.clock->Steady() - asked_at_ < kAskAtMostEvery;
}

Result<Identity> ExecPlugin::Get() {
  base::MutexLock lock(mutex_);
  if (IsUsable()) return answer_->identity;
  auto answer = Ask();
  if (!answer) return tl::unexpected(std::move(answer.error()));
  const base::WallTime now = around_.clock->Now();
  if (refused_ && answer->expires && *answer->expires <= now) {
    return PluginError(
        Reason::kUnauthorized,
        fmt::format(
            "printed a credential that expired at {} (it is {} now), and the server refuses "
            "it; log in again, or correct the clock",
            codec::FormatTime(*answer->expires), codec::FormatTime(now)));
  }
  answer_ = *std::move(answer);
  asked_at_ = around_.clock->Steady();
  return answer_->identity;
}

bool ExecPlugin::OnUnauthorized(const Identity& used) {
  base::MutexLock lock(mutex_);
  const base::SteadyTime now = around_.clock->Steady();
  if (answer_ && !IsSameCredential(answer_->identity, used)) return true;
  if (refused_ && IsSameCredential(refused_->identity, used) &&
      now - refused_->at < kRefusedAgainAfter) {
    return false;
  }
  refused_ = Refusal{.identity = used, .at = now};
  answer_.reset();
  return true;
}

}  // namespace berth::kube
