#include "berth/inspect/manifest_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "berth/terminal.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

bool HasManifestName(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

/// Returns the path as reports show it. Pipelines find files by their path from the top folder.
std::string ShownPath(std::string_view path) {
  while (path.starts_with("./") && path.size() > 2) path.remove_prefix(2);
  return std::string(path);
}

class ManifestFinder {
 public:
  std::vector<inspect::Manifest> Read(const std::vector<std::string>& paths) && {
    for (const std::string& path : paths) {
      if (path == "-") {
        ReadFile(path, "standard input");
      } else {
        const size_t before = manifests_.size();
        Visit(path, 0, /*named=*/true);
        if (manifests_.size() == before && fs::is_directory(path)) AddMissing(path);
      }
    }
    return std::move(manifests_);
  }

 private:
  void AddFault(std::string file, std::string message) {
    inspect::Manifest& manifest = manifests_.emplace_back();
    manifest.file = std::move(file);
    manifest.faults.push_back({.message = std::move(message)});
  }

  void AddMissing(const std::string& folder) {
    inspect::Manifest& manifest = manifests_.emplace_back();
    manifest.file = ShownPath(folder);
    manifest.faults.push_back({.is_missing = true,
                               .message = "the folder has no manifest (*.yaml, *.yml or *.json)",
                               .advice = "Nothing was checked. Name the folder that has them."});
  }

  /// Reads a file or a folder. A path that the user named is read whatever its name is.
  void Visit(const std::string& path, size_t depth, bool named) {
    struct stat found = {};
    if (stat(path.c_str(), &found) != 0) {
      // A link of a folder that leads nowhere is not a manifest.
      if (named) AddFault(path, std::strerror(errno));
      return;
    }
    const bool folder = S_ISDIR(found.st_mode);
    if (!named && !folder && !S_ISREG(found.st_mode)) return;
    // Folders may be links to folders above them.
    if ((folder || S_ISREG(found.st_mode)) && !seen_.emplace(found.st_dev, found.st_ino).second) {
      return;
    }
    if (folder) {
      VisitFolder(path, depth);
    } else if (manifests_.size() < kMaxManifests) {
      ReadFile(path, ShownPath(path));
    } else if (manifests_.size() == kMaxManifests) {
      AddFault(path,
               fmt::format("there are more than {} files; the others are not read", kMaxManifests));
    }
  }

  void VisitFolder(const std::string& path, size_t depth) {
    if (depth == kMaxFolderDepth) {
      AddFault(path, fmt::format("folders are nested more than {} deep", kMaxFolderDepth));
      return;
    }
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator each(path, error), end; !error && each != end;
         each.increment(error)) {
      std::string name = each->path().filename().string();
      std::error_code unknown;
      if (name.starts_with('.')) continue;
      if (!HasManifestName(name) && !each->is_directory(unknown)) continue;
      names.push_back(std::move(name));
    }
    if (error) AddFault(path, error.message());
    std::ranges::sort(names);
    for (const std::string& name : names) {
      Visit(fmt::format("{}{}{}", path, path.ends_with('/') ? "" : "/", name), depth + 1,
            /*named=*/false);
    }
  }

  void ReadFile(const std::string& path, const std::string& name) {
    auto text = ReadAll(path, inspect::kMaxManifestBytes);
    if (!text) {
      AddFault(name, text.error().message);
    } else if (text->size() > inspect::kMaxManifestBytes) {
      AddFault(name, "it is larger than 100 MiB");
    } else {
      manifests_.push_back(inspect::ReadManifest(name, *text));
    }
  }

  std::vector<inspect::Manifest> manifests_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

std::vector<inspect::Manifest> ReadManifests(const std::vector<std::string>& paths) {
  return ManifestFinder().Read(paths);
}

}  // namespace berth::cli
