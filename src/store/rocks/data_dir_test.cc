#include "store/rocks/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "base/temp_dir.h"

namespace berth::store::rocks {
namespace {

namespace fs = std::filesystem;
using base::Reason;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Runs `body` in a process of its own and returns its result.
std::string InChild(const std::function<std::string()>& body) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = body();
    const bool written = write(pipe_ends[1], text.data(), text.size()) >= 0;
    _exit(written ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  std::array<char, 4096> some{};
  ssize_t n = 0;
  while ((n = read(pipe_ends[0], some.data(), some.size())) > 0) {
    text.append(some.data(), static_cast<size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return text;
}

constexpr std::string_view kCannot = "no file system can be mounted here: ";

/// Makes this process root in a user namespace of its own, where it may mount file systems. Returns
/// whether that is allowed here.
bool BecomeRootOfNamespace() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/uid_map") << fmt::format("0 {} 1", user);
  std::ofstream("/proc/self/setgroups") << "deny";  // The kernel requires this for the next line.
  std::ofstream("/proc/self/gid_map") << fmt::format("0 {} 1", group);
  return true;
}

/// Makes a new tmpfs the working directory of this process. Returns "", or kCannot and the reason.
/// The tmpfs is not attached to any directory. So no other process sees it, it ends with the
/// process, and this also works where the root directory is not a mount point.
std::string EnterTmpfs(const char* size, unsigned attributes) {
  const auto failed = [](std::string_view call) {
    return fmt::format("{}{}: {}", kCannot, call, std::strerror(errno));
  };
  if (geteuid() != 0 && !BecomeRootOfNamespace()) return failed("unshare");
  const int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0) return failed("fsopen");
  if (fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) != 0 ||
      fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return failed("fsconfig");
  }
  const int mounted = fsmount(context, FSMOUNT_CLOEXEC, attributes);
  if (mounted < 0) return failed("fsmount");
  return fchdir(mounted) == 0 ? "" : failed("fchdir");
}

/// Drops every capability of this process, so that mode bits apply to root too.
bool DropCapabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  return syscall(SYS_capset, &header, none.data()) == 0;
}

class DataDir : public ::testing::Test {
 protected:
  /// Returns the message of a failed Take. Returns an empty string if Take succeeds.
  std::string TakeError(const std::string& directory) const {
    const auto lock = DirLock::Take(directory, clock_);
    return lock.has_value() ? "" : lock.error().message;
  }

  std::string HolderText() const {
    std::ifstream file(directory_ + "/holder");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // 2026-11-15T04:35:00Z
  const base::ManualClock clock_{base::WallTime(std::chrono::seconds(1794717300))};
  const base::TempDir temp_;
  const std::string root_ = temp_.Path();
  const std::string directory_ = root_ + "/data";
};

TEST_F(DataDir, IsMadeForItsOwnerAlone) {
  const auto lock = DirLock::Take(directory_, clock_);
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  struct stat status{};
  ASSERT_EQ(stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_THAT(HolderText(), StartsWith(fmt::format("pid {} (", getpid())));
  EXPECT_THAT(HolderText(), ::testing::EndsWith("), since 2026-11-15T04:35:00Z\n"));
}

TEST_F(DataDir, TheSecondProcessIsToldWhoHasIt) {
  const auto lock = DirLock::Take(directory_, clock_);
  ASSERT_TRUE(lock.has_value());
  const std::string command = fs::read_symlink("/proc/self/exe").filename();
  const std::string said = InChild([this] {
    const auto second = DirLock::Take(directory_, clock_);
    if (second.has_value()) return std::string("taken");
    return fmt::format("{} {}", static_cast<int>(second.error().reason), second.error().message);
  });
  EXPECT_THAT(said, StartsWith(fmt::format("{} {} is in use by {} (pid {}, \"",
                                           static_cast<int>(Reason::kConflict), directory_, command,
                                           getpid())));
  EXPECT_THAT(
      said, ::testing::EndsWith("\", since 2026-11-15T04:35:00Z); only one process can use a data "
                                "directory: stop that one or choose another directory"));
}

TEST_F(DataDir, TheSameProcessCannotTakeItTwice) {
  auto lock = DirLock::Take(directory_, clock_);
  ASSERT_TRUE(lock.has_value());
  EXPECT_THAT(TakeError(directory_), HasSubstr("is in use by"));
  lock->reset();
  EXPECT_EQ(TakeError(directory_), "");
}

TEST_F(DataDir, AHolderThatDiedIsNoObstacle) {
  const std::string said = InChild([this] {
    auto lock = DirLock::Take(directory_, clock_);
    std::ignore = lock->release();  // The process exits while it holds the lock.
    return std::string("died");
  });
  ASSERT_EQ(said, "died");
  ASSERT_THAT(HolderText(), StartsWith("pid "));
  const auto lock = DirLock::Take(directory_, clock_);
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  EXPECT_THAT(HolderText(), StartsWith(fmt::format("pid {} (", getpid())));
}

TEST_F(DataDir, ALongerTextOfAnotherLeavesNothingBehind) {
  ASSERT_EQ(TakeError(directory_), "");
  std::ofstream(directory_ + "/holder") << "pid 1 (" << std::string(2000, 'x') << "), since ever\n";
  const auto lock = DirLock::Take(directory_, clock_);
  ASSERT_TRUE(lock.has_value());
  EXPECT_THAT(HolderText(), ::testing::EndsWith("), since 2026-11-15T04:35:00Z\n"));
  EXPECT_THAT(HolderText(), ::testing::Not(HasSubstr("xxxx")));
}

TEST_F(DataDir, ATextThatIsNotOursIsNotShown) {
  const auto lock = DirLock::Take(directory_, clock_);
  ASSERT_TRUE(lock.has_value());
  std::ofstream(directory_ + "/holder") << "\x1b[2J nonsense\n";
  EXPECT_EQ(TakeError(directory_),
            directory_ +
                " is in use by another process; only one process can use a data directory: stop "
                "that one or choose another directory");
  std::ofstream(directory_ + "/holder") << "pid 7 (a\x1b[2J\nb), since 1\n";
  EXPECT_THAT(TakeError(directory_), HasSubstr("in use by another process"));
  std::ofstream(directory_ + "/holder") << "pid 7 (/bin/x\x1b[2J y), since 1\n";
  EXPECT_THAT(TakeError(directory_),
              HasSubstr("in use by x?[2J (pid 7, \"/bin/x?[2J y\", since 1);"));
}

TEST_F(DataDir, APathThatIsAFile) {
  std::ofstream(directory_) << "I am a file";
  EXPECT_EQ(TakeError(directory_),
            directory_ + " is not a directory: move it away or choose another directory");
  EXPECT_EQ(DirLock::Take(directory_, clock_).error().reason, Reason::kInvalid);
  EXPECT_EQ(TakeError(directory_ + "/below"),
            "cannot make " + directory_ + "/below: a part of this path is not a directory");
}

TEST_F(DataDir, AMissingParentIsNotMade) {
  EXPECT_EQ(
      TakeError(directory_ + "/below"),
      "cannot make " + directory_ + "/below: its parent directory does not exist; make that first");
  EXPECT_EQ(DirLock::Take(directory_ + "/below", clock_).error().reason, Reason::kNotFound);
}

TEST_F(DataDir, TrailingSlashesAndDotsDoNotMatter) {
  const auto lock = DirLock::Take(directory_ + "/", clock_);
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  EXPECT_THAT(TakeError(root_ + "/./data//"), HasSubstr("is in use by"));
}

TEST_F(DataDir, NoPermission) {
  ASSERT_EQ(mkdir(directory_.c_str(), 0500), 0);
  ASSERT_EQ(chmod(root_.c_str(), 0500), 0);
  const std::string said = InChild([this]() -> std::string {
    if (!DropCapabilities()) return "capabilities cannot be dropped";
    return TakeError(directory_) + "\n" + TakeError(root_ + "/new");
  });
  ASSERT_EQ(chmod(root_.c_str(), 0700), 0);  // So that it can be removed.
  EXPECT_THAT(said, StartsWith("no permission to write " + directory_ + "/holder (user id "));
  EXPECT_THAT(said,
              HasSubstr("): run as the user it belongs to, change its owner or choose another "
                        "directory\nno permission to make " +
                        root_ + "/new (user id "));
}

TEST_F(DataDir, AReadOnlyFileSystem) {
  const std::string said = InChild([this]() -> std::string {
    if (std::string why = EnterTmpfs("64k", MOUNT_ATTR_RDONLY); !why.empty()) return why;
    return TakeError(".") + "\n" + TakeError("./new");
  });
  if (said.starts_with(kCannot)) GTEST_SKIP() << said;
  EXPECT_EQ(said,
            "cannot write ./holder: . is on a read-only file system; make that writable or choose "
            "another directory\n"
            "cannot make ./new: ./new is on a read-only file system; make that writable or choose "
            "another directory");
}

TEST_F(DataDir, AFullDiskCanStillBeLocked) {
  const std::string said = InChild([this]() -> std::string {
    if (std::string why = EnterTmpfs("64k", 0); !why.empty()) return why;
    std::ofstream fill("fill");
    while (fill.write("0123456789abcdef", 16).flush()) continue;
    const auto free = FreeBytes(".");
    return fmt::format("{}/{}", free.value_or(1), TakeError("."));
  });
  if (said.starts_with(kCannot)) GTEST_SKIP() << said;
  EXPECT_EQ(said, "0/");
}

TEST_F(DataDir, FreeBytesAreThoseOfTheFileSystem) {
  const auto free = FreeBytes(root_);
  ASSERT_TRUE(free.has_value()) << free.error().message;
  struct statvfs status{};
  ASSERT_EQ(statvfs(root_.c_str(), &status), 0);
  EXPECT_GT(*free, 0U);
  EXPECT_LE(*free, static_cast<uint64_t>(status.f_blocks) * status.f_frsize);
  const auto missing = FreeBytes(directory_ + "/missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr(directory_ + "/missing: No such file"));
}

}  // namespace
}  // namespace berth::store::rocks
