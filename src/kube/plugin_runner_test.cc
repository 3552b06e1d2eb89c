#include "kube/plugin_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temp_dir.h"
#include "kube/exec_answer.h"
#include "kube/exec_plugin.h"
#include "kube/surroundings.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using Ending = PluginRun::Ending;

/// Runs small shell scripts as plugins.
class PluginRunnerTest : public ::testing::Test {
 protected:
  std::string Script(const std::string& text) {
    const std::string path = fmt::format("{}/plugin{}", dir_.Path(), ++scripts_);
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
  }

  base::Result<PluginRun> Run(const std::string& text, PluginCommand command = {}) {
    command.program = Script(text);
    return MakeProcessRunner()->Run(command);
  }

  base::TempDir dir_;
  int scripts_ = 0;
};

TEST_F(PluginRunnerTest, CollectsWhatAProgramPrints) {
  const auto run = Run("echo \"$1,$2,$A,$HOME\"; echo problem >&2; exit 3",
                       {.arguments = {"x y", "$z"}, .environment = {"A=b c"}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->ending, Ending::kExited);
  EXPECT_EQ(run->code, 3);
  EXPECT_EQ(run->output, "x y,$z,b c,\n");
  EXPECT_EQ(run->errors, "problem\n");
}

TEST_F(PluginRunnerTest, ReadsFromNothing) {
  const auto run = Run("cat; echo done");
  EXPECT_EQ(run->output, "done\n");
}

TEST_F(PluginRunnerTest, EndsAProgramThatHangsWithItsChildren) {
  const std::string pids = dir_.Path() + "/pids";
  const auto run =
      Run(fmt::format("sleep 600 & echo $! > {}; echo waiting >&2; wait", pids),
          {.environment = {"PATH=/usr/bin:/bin"}, .time_limit = std::chrono::milliseconds(500)});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->ending, Ending::kTimedOut);
  EXPECT_EQ(run->errors, "waiting\n");
  pid_t grandchild = 0;
  std::ifstream(pids) >> grandchild;
  ASSERT_GT(grandchild, 0);
  // It has received the signal. It is gone as soon as its new parent has reaped it.
  const auto is_running = [&] {
    std::ifstream status(fmt::format("/proc/{}/stat", grandchild));
    std::string pid;
    std::string name;
    std::string state = "gone";
    status >> pid >> name >> state;
    return state != "gone" && state != "Z" && state != "X";
  };
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (is_running() && std::chrono::steady_clock::now() < patience) ::usleep(1000);
  EXPECT_FALSE(is_running());
}

TEST_F(PluginRunnerTest, EndsAProgramThatPrintsTooMuch) {
  const auto run =
      Run("head -c 10000000 /dev/zero; sleep 600", {.environment = {"PATH=/usr/bin:/bin"}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->ending, Ending::kTooMuchOutput);
  EXPECT_LT(run->output.size(), size_t{2} << 20);
}

TEST_F(PluginRunnerTest, KeepsTheEndOfManyErrors) {
  const auto run = Run("head -c 1000000 /dev/zero >&2; echo the end >&2",
                       {.environment = {"PATH=/usr/bin:/bin"}});
  EXPECT_EQ(run->ending, Ending::kExited);
  EXPECT_EQ(run->errors.size(), 4096);
  EXPECT_TRUE(run->errors.ends_with("the end\n"));
}

TEST_F(PluginRunnerTest, DoesNotWaitForProgramsThatAreLeftRunning) {
  const std::string pid_file = dir_.Path() + "/pid";
  const auto begun = std::chrono::steady_clock::now();
  const auto run = Run(fmt::format("sleep 600 & echo $! > {}; echo done", pid_file),
                       {.environment = {"PATH=/usr/bin:/bin"}});
  EXPECT_EQ(run->ending, Ending::kExited);
  EXPECT_EQ(run->output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(50));
  pid_t left = 0;
  std::ifstream(pid_file) >> left;
  ASSERT_GT(left, 0);
  EXPECT_EQ(::kill(left, SIGKILL), 0) << "it was not killed";
}

TEST_F(PluginRunnerTest, TellsASignalFromAnExit) {
  const auto run = Run("kill -TERM $$");
  EXPECT_EQ(run->ending, Ending::kSignalled);
  EXPECT_EQ(run->code, SIGTERM);
}

TEST_F(PluginRunnerTest, OpensNoOtherFilesAndBlocksNoSignals) {
  const int leak = ::fcntl(STDERR_FILENO, F_DUPFD, 7);  // Without FD_CLOEXEC.
  ASSERT_TRUE(leak >= 7 && leak <= 9) << leak;
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto ignored = ::signal(SIGPIPE, SIG_IGN);
  const auto files =
      Run("for f in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$f ] && echo $f; done;"
          "grep '^SigBlk' /proc/self/status",
          {.environment = {"PATH=/usr/bin:/bin"}});
  const auto pipe = Run("kill -PIPE $$; echo survived");
  ::signal(SIGPIPE, ignored);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(leak);
  EXPECT_EQ(files->output, "SigBlk:\t0000000000000000\n");
  EXPECT_EQ(pipe->ending, Ending::kSignalled);
  EXPECT_EQ(pipe->output, "");
}

TEST_F(PluginRunnerTest, LeavesNoFilesOpen) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  EXPECT_TRUE(Run("echo x"));
  EXPECT_FALSE(MakeProcessRunner()->Run({.program = "/does/not/exist"}));
  EXPECT_EQ(open_files(), before);
}

TEST_F(PluginRunnerTest, SaysWhyAProgramCannotBeStarted) {
  const auto missing = MakeProcessRunner()->Run({.program = "/does/not/exist"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, base::Reason::kNotFound);
  const auto unknown = MakeProcessRunner()->Run({.program = "there-is-no-such-program"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, base::Reason::kNotFound);
  const auto folder = MakeProcessRunner()->Run({.program = dir_.Path()});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "Permission denied");
  const auto large =
      MakeProcessRunner()->Run({.program = "/bin/true", .arguments = {std::string(1 << 20, 'x')}});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "Argument list too long");
}

TEST_F(PluginRunnerTest, LooksInAbsoluteFoldersOfThePath) {
  const std::string script = Script("true");
  const std::string name = script.substr(script.rfind('/') + 1);
  EXPECT_EQ(FindOnPath(name, "/does/not/exist:" + dir_.Path()), script);
  EXPECT_EQ(FindOnPath(name, "/usr/bin"), "");
  EXPECT_EQ(FindOnPath(name, ""), "");
  EXPECT_EQ(FindOnPath("", dir_.Path()), "");
  ::chmod(script.c_str(), 0600);
  EXPECT_EQ(FindOnPath(name, dir_.Path()), "") << "it is not executable";
  ::chmod(script.c_str(), 0700);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.Path());
  EXPECT_EQ(FindOnPath(name, ".::"), "");
  std::filesystem::current_path(before);
}

TEST_F(PluginRunnerTest, WorksWithARealPlugin) {
  Surroundings around = RealSurroundings();
  around.stdin_is_terminal = false;
  const auto identity = [&](const std::string& text) {
    ExecPlugin plugin({.api_version = "client.authentication.k8s.io/v1",
                       .command = Script(text),
                       .arguments = {"abc"},
                       .environment = {{"SUFFIX", "def"}}},
                      "user \"u\" in /c", codec::Object{{"server", "https://s"}}, around);
    const auto got = plugin.Get();
    return got ? got->token + got->certificate_pem + got->key_pem : got.error().message;
  };
  const std::string head = R"({"apiVersion":"client.authentication.k8s.io/v1",)"
                           R"("kind":"ExecCredential","status":)";
  EXPECT_EQ(identity("echo '" + head + "{\"token\":\"'$1$SUFFIX'\"}}'"), "abcdef");
  EXPECT_EQ(identity("echo '" + head + R"({"clientCertificateData":"-----BEGIN C",)" +
                     R"("clientKeyData":"-----BEGIN K"}}')"),
            "-----BEGIN C-----BEGIN K");
  EXPECT_EQ(identity("case \"$KUBERNETES_EXEC_INFO\" in *'\"server\":\"https://s\"'*) echo '" +
                     head + "{\"token\":\"informed\"}}';; esac"),
            "informed");
  EXPECT_THAT(identity("echo 'log in first' >&2; exit 1"),
              HasSubstr("failed with exit status 1; it wrote:\nlog in first"));
  EXPECT_THAT(identity("head -c 10000000 /dev/zero"), HasSubstr("printed more than 1 MiB"));
  EXPECT_THAT(identity("head -c 1000 /dev/urandom | tr -d '{'"), HasSubstr("did not print an"));
}

}  // namespace
}  // namespace berth::kube
