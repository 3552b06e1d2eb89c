// A directory for one test. For tests only.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace berth::base {

/// Fresh when it is made, removed with everything in it.
class TempDir {
 public:
  enum class Place : uint8_t {
    kDisk,
    kMemory,  // If there is room: where the disk is played, a real one only takes time.
  };

  explicit TempDir(Place place = Place::kDisk) {
    const std::filesystem::path parent = place == Place::kMemory && HasRoom(kMemoryPath)
                                             ? std::filesystem::path(kMemoryPath)
                                             : std::filesystem::temp_directory_path();
    std::string pattern = parent / "berth_test.XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(pattern);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& Path() const { return path_; }

 private:
  static constexpr const char* kMemoryPath = "/dev/shm";
  static constexpr uintmax_t kRoom = uintmax_t{1} << 30;  // Far more than any test needs.

  static bool HasRoom(const char* path) {
    std::error_code error;
    const auto space = std::filesystem::space(path, error);
    return !error && space.available > kRoom && access(path, W_OK) == 0;
  }

  std::string path_;
};

}  // namespace berth::base
