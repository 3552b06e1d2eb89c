#include "berth/store/snapshot_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "berth/client/api_target.h"
#include "berth/exit_code.h"
#include "berth/paint.h"
#include "berth/store/open.h"
#include "berth/store/progress.h"
#include "berth/store/report.h"
#include "berth/store/snapshot_fetch.h"
#include "berth/terminal.h"
#include "codec/json.h"
#include "store/copy.h"
#include "store/snapshot_file.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;
using store::Revision;

/// How far above the snapshot's revision a restored store begins. This is more than years of writes
/// since the snapshot could have used.
constexpr int64_t kRestoreRaise = int64_t{1} << 48;

std::string AbsoluteText(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

/// Returns the size of all files in a directory and its subdirectories.
uint64_t DiskBytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    std::error_code gone;
    if (at->is_regular_file(gone)) bytes += at->file_size(gone);
  }
  return bytes;
}

/// Checks that the directory does not exist or is empty. (The root of a file system contains
/// lost+found.)
Result<void> CheckEmpty(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory, error) && !error) return {};
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "lost+found") continue;
    return base::Fail(Reason::kAlreadyExists,
                      fmt::format("{} is not empty (it contains {}); restore into a directory that "
                                  "is empty or does not exist",
                                  base::GoQuoted(directory), base::GoQuoted(name)));
  }
  if (!error) return {};
  return base::Fail(Reason::kInvalid, fmt::format("cannot read the directory {}: {}",
                                                  base::GoQuoted(directory), error.message()));
}

/// Removes what a failed restore has created in a directory that was empty or did not exist.
void RemoveMade(const std::string& directory, bool was_there) {
  std::error_code ignored;
  std::vector<std::filesystem::path> made;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.path().filename() != "lost+found") made.push_back(entry.path());
  }
  for (const auto& path : made) std::filesystem::remove_all(path, ignored);
  if (!was_there) std::filesystem::remove(directory, ignored);
}

Result<Status> StatusOfFile(const std::string& path) {
  Status status{.snapshot = true, .path = path};
  const auto info = store::ReadSnapshotFile(path, [&](const store::Entry& entry) {
    status.summary.Add(entry);
    return Result<void>();
  });
  if (!info) return tl::unexpected(info.error());
  status.source = info->source;
  status.created = info->created;
  status.revision = info->revision;
  status.disk_bytes = info->file_bytes;
  return status;
}

Result<Status> StatusOfDirectory(const std::string& directory) {
  Tools tools;
  const auto store = OpenToRead({.directory = directory}, {}, tools);
  if (!store) return tl::unexpected(store.error());
  Status status{.path = directory, .compacted = store->compacted};
  const auto revision = store::Summarise(*store->engine, WithoutSlots(), status.summary);
  if (!revision) return tl::unexpected(revision.error());
  auto unfinished = store::UnfinishedCopy(*store->engine);
  if (!unfinished) return tl::unexpected(unfinished.error());
  status.revision = *revision;
  status.unfinished_copy = *std::move(unfinished);
  status.disk_bytes = DiskBytes(directory);
  return status;
}

Result<store::Copied> Restore(const SnapshotArguments& arguments, Tools& tools,
                              Progress& progress) {
  if (auto empty = CheckEmpty(arguments.data_dir); !empty) return tl::unexpected(empty.error());
  // The whole file is read before anything is created, so that a file with a damaged end does not
  // leave a partly filled directory.
  uint64_t checked = 0;
  const auto info = store::ReadSnapshotFile(arguments.file, [&](const store::Entry&) {
    progress.Show("checking the snapshot", ++checked, std::nullopt, 0);
    return Result<void>();
  });
  if (!info) return tl::unexpected(info.error());
  if (info->revision.value > INT64_MAX - 2 * kRestoreRaise) {
    return base::Fail(Reason::kInvalid,
                      fmt::format("{} has revision {}, which leaves no room for newer revisions",
                                  base::GoQuoted(arguments.file), info->revision.value));
  }
  const Revision base{info->revision.value + kRestoreRaise};
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(arguments.data_dir, ignored);
  auto target = OpenToFill({.directory = arguments.data_dir}, {}, base, tools);
  if (!target) return tl::unexpected(target.error());
  const store::CopyOptions options{
      .note = fmt::format("restoring {}, begun {}", AbsoluteText(arguments.file),
                          base::FormatRfc3339Millis(tools.clock().Now())),
      .above = base,
      .normalise = WithoutSlots(),
      .progress = [&](const store::CopyProgress& done) {
        const bool copying = done.phase == store::CopyPhase::kCopying;
        progress.Show(copying ? "restoring" : "comparing", done.keys, info->keys, done.bytes);
      }};
  auto copied = store::CopyInto(*target->engine, store::EntriesOfSnapshot(arguments.file), options);
  if (!copied) {
    target->engine.reset();
    RemoveMade(arguments.data_dir, was_there);
  }
  return copied;
}

Result<store::SnapshotFileInfo> SaveFromServer(const std::string& kubeconfig,
                                               const std::string& file, Progress& progress) {
  const auto target = FindTarget(kubeconfig);
  if (!target) return tl::unexpected(target.error());
  return FetchSnapshot(*target, file, [&](uint64_t bytes) {
    progress.Show("receiving", std::nullopt, std::nullopt, bytes);
  });
}

/// Saves a directory. If a server uses it, gets the snapshot from the server, with the credential
/// in the directory.
Result<store::SnapshotFileInfo> SaveDirectory(const SnapshotArguments& arguments, Tools& tools,
                                              Progress& progress) {
  const auto store = OpenToRead({.directory = arguments.data_dir}, {}, tools);
  if (!store) {
    const std::string kubeconfig = arguments.data_dir + "/admin.kubeconfig";
    std::error_code ignored;
    const bool served =
        store.error().reason == Reason::kConflict && std::filesystem::exists(kubeconfig, ignored);
    if (served) return SaveFromServer(kubeconfig, arguments.file, progress);
    return tl::unexpected(store.error());
  }
  const store::SnapshotFileOptions options{
      .source = Address{.directory = AbsoluteText(arguments.data_dir)}.Text(),
      .normalise = WithoutSlots(),
      .progress = [&](uint64_t keys, uint64_t bytes) {
        progress.Show("saving", keys, store->keys, bytes);
      }};
  return store::SaveSnapshotFile(*store->engine, arguments.file, options, tools.clock());
}

}  // namespace

int RunSnapshotSave(const SnapshotArguments& arguments) {
  constexpr std::string_view kCommand = "snapshot save";
  if (arguments.kubeconfig.empty() == arguments.data_dir.empty()) {
    return ReportError(kCommand, {.reason = Reason::kInvalid,
                                  .message = "give either --data-dir (a data directory) or "
                                             "--kubeconfig (a server); see berth snapshot save "
                                             "--help"});
  }
  Tools tools;
  Progress progress(std::string(kCommand), tools.clock());
  const auto info = arguments.kubeconfig.empty()
                        ? SaveDirectory(arguments, tools, progress)
                        : SaveFromServer(arguments.kubeconfig, arguments.file, progress);
  if (!info) return ReportError(kCommand, info.error());
  const Facts facts = {{"Revision", std::to_string(info->revision.value)},
                       {"Size", ByteText(info->file_bytes)},
                       {"Checksum", store::HexText(info->checksum)}};
  const bool printed = PrintOut(fmt::format("Saved {} to {}\n\n{}", KeysText(info->keys),
                                            base::ToVisible(arguments.file), FactsText(facts)));
  return printed ? kFine : kFailed;
}

int RunSnapshotRestore(const SnapshotArguments& arguments) {
  constexpr std::string_view kCommand = "snapshot restore";
  Tools tools;
  Progress progress(std::string(kCommand), tools.clock());
  const auto copied = Restore(arguments, tools, progress);
  if (!copied) return ReportError(kCommand, copied.error());
  const std::string what = fmt::format("Restored {} into {}", base::ToVisible(arguments.file),
                                       base::ToVisible(arguments.data_dir));
  const Paint paint(DetectStyle());
  return PrintOut(CopiedText(what, *copied, progress.Elapsed(), paint)) ? kFine : kFailed;
}

int RunSnapshotStatus(const SnapshotArguments& arguments) {
  constexpr std::string_view kCommand = "snapshot status";
  const auto wrong = [&](std::string message) {
    return ReportError(kCommand, {.reason = Reason::kInvalid,
                                  .message = std::move(message) + "; see berth snapshot status "
                                                                  "--help"});
  };
  if (arguments.output != "table" && arguments.output != "json") {
    return wrong(fmt::format("-o {}: must be table or json", base::GoQuoted(arguments.output)));
  }
  if (arguments.file.empty() == arguments.data_dir.empty()) {
    return wrong("give either FILE (a snapshot) or --data-dir (a data directory)");
  }
  const bool snapshot = !arguments.file.empty();
  const auto status =
      snapshot ? StatusOfFile(arguments.file) : StatusOfDirectory(arguments.data_dir);
  if (!status) return ReportError(kCommand, status.error());
  const std::string text = arguments.output == "json"
                               ? codec::WriteJson(StatusDocument(*status), {.indent = 2}) + "\n"
                               : StatusText(*status, Paint(DetectStyle()));
  return PrintOut(text) ? kFine : kFailed;
}

}  // namespace berth::cli
