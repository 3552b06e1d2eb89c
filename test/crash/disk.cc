#include "crash/disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "crash/real.h"

namespace faultfs {

namespace {

constexpr int kCutExitCode = 137;  // The same as after SIGKILL.
constexpr uint64_t kSector = 512;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

uint64_t Number(std::string_view text) {
  return std::strtoull(std::string(text).c_str(), nullptr, 10);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string ParentOf(const std::string& path) { return std::filesystem::path(path).parent_path(); }

}  // namespace

namespace real {

void Give(const std::string& why) {
  const std::string line = "faultfs: " + why + "\n";
  static_cast<void>(Write(2, line.data(), line.size()));
  _exit(99);
}

void WriteAll(int fd, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = PositionedWrite(fd, bytes.data(), bytes.size(), offset);
    if (n <= 0) Give("cannot restore a file");
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
}

std::string ReadAll(int fd, uint64_t offset, uint64_t length) {
  std::string bytes(length, '\0');
  uint64_t done = 0;
  while (done < length) {
    const ssize_t n =
        pread(fd, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (n <= 0) Give("cannot read what a write will replace");
    done += static_cast<uint64_t>(n);
  }
  return bytes;
}

}  // namespace real

Faults Faults::FromEnvironment() {
  Faults faults;
  if (const std::string dir = Env("FAULTFS_DIR"); !dir.empty()) {
    std::error_code error;
    faults.root = std::filesystem::weakly_canonical(dir, error);
    faults.shadow = faults.root + ".shadow";
    faults.state = faults.root + ".state";
  }
  faults.log = Env("FAULTFS_LOG");
  faults.seed = Number(Env("FAULTFS_SEED"));
  if (const auto cut = Split(Env("FAULTFS_CUT"), ':'); cut.size() >= 3) {
    faults.cut =
        CutPoint{.kind = cut[0] == "sync" ? CutPoint::Kind::kSync : CutPoint::Kind::kChange,
                 .count = Number(cut[1]),
                 .after = cut[2] == "after",
                 .kill = cut.size() > 3 && cut[3] == "kill"};
  }
  for (const std::string& n : Split(Env("FAULTFS_FAIL_LOG_SYNC"), ',')) {
    faults.failing_log_syncs.insert(Number(n));
  }
  for (const std::string& n : Split(Env("FAULTFS_FAIL_SYNC"), ',')) {
    faults.failing_syncs.insert(Number(n));
  }
  if (const auto space = Split(Env("FAULTFS_ENOSPC_AFTER"), ','); !space.empty()) {
    faults.space = Number(space[0]);
    if (space.size() > 1) faults.refusals_until_space_back = Number(space[1]);
  }
  return faults;
}

bool Disk::Change::IsIn(const std::string& directory) const {
  if (IsContent()) return false;
  return ParentOf(path) == directory || (kind == Kind::kRename && ParentOf(to) == directory);
}

Disk::Disk(Faults faults) : faults_(std::move(faults)), random_(faults_.seed) {
  if (faults_.root.empty()) return;
  if (real::MakeDirectory(faults_.shadow, 0700) != 0 && errno != EEXIST) {
    real::Give("cannot make " + faults_.shadow);
  }
  Load();
}

Disk& Disk::Get() {
  static Disk* const disk = new Disk(Faults::FromEnvironment());
  return *disk;
}

std::string Disk::Watched(std::string_view path) const {
  if (faults_.root.empty() || path.empty()) return "";
  std::error_code error;
  std::string whole = std::filesystem::absolute(path, error).lexically_normal();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  const bool below = whole.starts_with(faults_.root) &&
                     (whole.size() == faults_.root.size() || whole[faults_.root.size()] == '/');
  return below ? whole : "";
}

Disk::File& Disk::FileOf(int fd, const std::string& path) {
  struct stat status{};
  if (fstat(fd, &status) != 0) real::Give("cannot stat an open file");
  auto [it, is_new] = files_.try_emplace(Id{status.st_dev, status.st_ino});
  if (is_new) {
    // The disk's own descriptor prevents the inode from being reused.
    it->second.fd = real::Open(fmt::format("/proc/self/fd/{}", fd), O_RDWR | O_CLOEXEC);
    if (it->second.fd < 0) real::Give("cannot open a watched file");
    it->second.path = path;
    it->second.durable_size = static_cast<uint64_t>(status.st_size);
  }
  return it->second;
}

Disk::BeforeOpen Disk::WillOpen(const std::string& path, int flags) {
  BeforeOpen before{.path = path, .truncated = {}};
  struct stat status{};
  before.existed = lstat(path.c_str(), &status) == 0;
  if (before.existed && (flags & O_TRUNC) != 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const int fd = real::Open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) real::Give("cannot open what is to be truncated");
    FileOf(fd, path);
    before.truncated = real::ReadAll(fd, 0, static_cast<uint64_t>(status.st_size));
    real::Close(fd);
  }
  return before;
}

void Disk::Opened(const BeforeOpen& before, int fd) {
  FileOf(fd, before.path);
  if (!before.existed) Made(before.path);
  if (!before.truncated.empty()) Resized(fd, before.truncated.size(), before.truncated);
}

Disk::BeforeWrite Disk::WillWrite(int fd, uint64_t offset, uint64_t length) {
  File& file = FileOf(fd);
  const uint64_t size = real::SizeOf(fd);
  const uint64_t end = std::min(size, offset + length);
  return {.offset = offset,
          .size = size,
          .old = end > offset ? real::ReadAll(file.fd, offset, end - offset) : ""};
}

void Disk::Wrote(int fd, BeforeWrite before, uint64_t length) {
  struct stat status{};
  fstat(fd, &status);
  journal_.push_back({.kind = Change::Kind::kWrite,
                      .file = {status.st_dev, status.st_ino},
                      .offset = before.offset,
                      .length = length,
                      .old_size = before.size,
                      .new_size = std::max(before.size, before.offset + length),
                      .old = std::move(before.old),
                      .path = {},
                      .to = {},
                      .hidden = {}});
  written_ += length;
}

uint64_t Disk::Allowed(uint64_t bytes) {
  if (!faults_.space.has_value() || written_ + bytes <= *faults_.space) return bytes;
  const uint64_t until = faults_.refusals_until_space_back;
  if (until > 0 && refusals_ >= until) return bytes;
  if (refusals_++ == 0) Note("F disk full");
  if (refusals_ == until) Note("F space is back");
  return *faults_.space > written_ ? *faults_.space - written_ : 0;
}

void Disk::Resized(int fd, uint64_t old_size, std::string old_tail) {
  struct stat status{};
  fstat(fd, &status);
  journal_.push_back({.kind = Change::Kind::kResize,
                      .file = {status.st_dev, status.st_ino},
                      .offset = old_size - old_tail.size(),
                      .length = old_tail.size(),
                      .old_size = old_size,
                      .new_size = static_cast<uint64_t>(status.st_size),
                      .old = std::move(old_tail),
                      .path = {},
                      .to = {},
                      .hidden = {}});
}

bool Disk::WillSync(int fd) {
  Count(CutPoint::Kind::kSync, &syncs_, false);
  struct stat status{};
  fstat(fd, &status);
  const Id id{status.st_dev, status.st_ino};
  const auto file = files_.find(id);
  const std::string path = file == files_.end() ? "" : file->second.path;
  bool fails = faults_.failing_syncs.contains(syncs_);
  if (path.ends_with(".log")) fails = faults_.failing_log_syncs.contains(++log_syncs_) || fails;
  if (!fails) return false;
  for (Change& change : journal_) {
    if (change.IsContent() && change.file == id) change.lost = true;
  }
  Note(fmt::format("F sync {} failed ({})", syncs_, path.empty() ? "a directory" : path));
  return true;
}

void Disk::Synced(int fd) {
  struct stat status{};
  fstat(fd, &status);
  if (S_ISDIR(status.st_mode)) {
    std::error_code error;
    const std::string path =
        std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
    for (const Change& change : journal_) {
      if (change.IsIn(path) && !change.hidden.empty()) real::Unlink(change.hidden);
    }
    std::erase_if(journal_, [&](const Change& change) { return change.IsIn(path); });
  } else {
    const Id id{status.st_dev, status.st_ino};
    std::erase_if(journal_, [&](const Change& change) {
      return change.IsContent() && change.file == id && !change.lost;
    });
    const auto file = files_.find(id);
    if (file != files_.end()) file->second.durable_size = static_cast<uint64_t>(status.st_size);
  }
  Count(CutPoint::Kind::kSync, &syncs_, true);
}

std::string Disk::Hide(const std::string& path) {
  std::string hidden = fmt::format("{}/{}-{}", faults_.shadow, getpid(), ++hidden_);
  if (real::Rename(path, hidden) != 0) real::Give("cannot hide " + path);
  return hidden;
}

void Disk::Made(const std::string& path) {
  journal_.push_back(
      {.kind = Change::Kind::kMake, .file = {}, .old = {}, .path = path, .to = {}, .hidden = {}});
}

void Disk::MadeDirectory(const std::string& path) {
  journal_.push_back({.kind = Change::Kind::kMakeDirectory,
                      .file = {},
                      .old = {},
                      .path = path,
                      .to = {},
                      .hidden = {}});
}

void Disk::Deleted(const std::string& path, std::string hidden) {
  journal_.push_back({.kind = Change::Kind::kDelete,
                      .file = {},
                      .old = {},
                      .path = path,
                      .to = {},
                      .hidden = std::move(hidden)});
}

void Disk::Renamed(const std::string& from, const std::string& to, std::string hidden) {
  journal_.push_back({.kind = Change::Kind::kRename,
                      .file = {},
                      .old = {},
                      .path = from,
                      .to = to,
                      .hidden = std::move(hidden)});
}

void Disk::Count(CutPoint::Kind kind, uint64_t* counter, bool after) {
  if (!after) ++*counter;
  // A change that failed is not reported afterwards. Then the next one counts instead.
  if (faults_.cut.has_value() && faults_.cut->kind == kind && faults_.cut->after == after &&
      faults_.cut->count <= *counter) {
    faults_.cut->kill ? Kill() : Cut();
  }
}

void Disk::Cut() {
  // Half of the time nothing survives, as with a drive that has a large cache.
  const bool drop_all = berth::base::Uniform(random_, 2) == 0;
  const size_t keep = drop_all ? 0 : berth::base::Uniform(random_, journal_.size() + 1);
  for (auto& [id, file] : files_) file.kept_size = file.durable_size;
  for (size_t i = 0; i < keep; ++i) {
    const Change& change = journal_[i];
    if (!change.IsContent() || change.lost) continue;
    uint64_t& kept = files_.at(change.file).kept_size;
    kept = change.kind == Change::Kind::kResize ? change.new_size : std::max(kept, change.new_size);
  }
  for (size_t i = journal_.size(); i-- > 0;) {
    const Change& change = journal_[i];
    if (i < keep && !change.lost) continue;
    const bool torn = i == keep && !drop_all && change.kind == Change::Kind::kWrite && !change.lost;
    std::string bytes =
        torn ? real::ReadAll(files_.at(change.file).fd, change.offset, change.length) : "";
    TakeBack(change);
    if (torn) Tear(change, std::move(bytes));
  }
  Note(fmt::format("F cut after {} changes and {} syncs: {} of {} unsynced changes kept", changes_,
                   syncs_, keep, journal_.size()));
  _exit(kCutExitCode);
}

void Disk::Kill() {
  Save();
  Note(fmt::format("F kill after {} changes and {} syncs: {} changes are not synced", changes_,
                   syncs_, journal_.size()));
  _exit(kCutExitCode);
}

void Disk::Exit() const {
  if (!faults_.root.empty()) Save();
}

void Disk::TakeBack(const Change& change) {
  switch (change.kind) {
    case Change::Kind::kWrite:
    case Change::Kind::kResize: {
      const File& file = files_.at(change.file);
      const uint64_t size = std::max(change.old_size, file.kept_size);
      real::WriteAll(file.fd, change.old, change.offset);
      const uint64_t new_from = change.offset + change.old.size();
      const uint64_t new_end = std::min(change.offset + change.length, size);
      if (new_end > new_from)
        real::WriteAll(file.fd, std::string(new_end - new_from, '\0'), new_from);
      real::Truncate(file.fd, size);
      break;
    }
    case Change::Kind::kMake:
      real::Unlink(change.path);
      break;
    case Change::Kind::kMakeDirectory:
      real::Unlink(change.path, AT_REMOVEDIR);
      break;
    case Change::Kind::kDelete:
      real::Rename(change.hidden, change.path);
      break;
    case Change::Kind::kRename:
      real::Rename(change.to, change.path);
      if (!change.hidden.empty()) real::Rename(change.hidden, change.to);
      break;
  }
}

void Disk::Tear(const Change& change, std::string bytes) {
  const File& file = files_.at(change.file);
  const auto part = [&] { return berth::base::Uniform(random_, bytes.size() + 1); };
  switch (file.path.ends_with(".log") ? berth::base::Uniform(random_, 4) : 0) {
    case 0:
      bytes.resize(part());
      break;
    case 1:
      std::fill(bytes.begin() + static_cast<ptrdiff_t>(part()), bytes.end(), '\0');
      break;
    case 2:
      for (size_t i = part(); i < bytes.size(); ++i) bytes[i] = static_cast<char>(random_.Next());
      break;
    default:
      for (uint64_t at = 0, end = 0; at < bytes.size(); at = end) {
        end = std::min(bytes.size(), at + kSector - (change.offset + at) % kSector);
        if (berth::base::Uniform(random_, 2) == 0) std::fill_n(&bytes[at], end - at, '\0');
      }
      break;
  }
  real::WriteAll(file.fd, bytes, change.offset);
}

void Disk::Note(const std::string& line) const {
  if (faults_.log.empty()) return;
  const int fd = real::Open(faults_.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string whole = line + "\n";
  static_cast<void>(real::Write(fd, whole.data(), whole.size()));
  real::Close(fd);
}

}  // namespace faultfs
