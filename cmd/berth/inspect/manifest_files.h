// Finds and reads the manifests that `berth lint` checks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inspect/manifest.h"

namespace berth::cli {

/// The most files, and the deepest folders, that are looked at.
inline constexpr size_t kMaxManifests = 200'000;
inline constexpr size_t kMaxFolderDepth = 64;

/// Reads the manifests that the paths name, in their order. A path is a file of any name, "-" for
/// standard input, or a folder. Of a folder it reads *.yaml, *.yml and *.json in all folders below
/// it, in the order of their names. Hidden files and folders are passed over. A file is read once,
/// even if several paths or links lead to it. What cannot be read becomes a fault of its manifest.
std::vector<inspect::Manifest> ReadManifests(const std::vector<std::string>& paths);

}  // namespace berth::cli
