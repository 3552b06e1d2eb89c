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

/// A directory that is new and empty at first, and is removed with everything
/// in it by the destructor.
class TempDir {
 public:
  enum class Medium : uint8_t {
    kDisk,
    kMemory,  // If it has room, for tests that simulate a disk: a real one only takes time.
  };

  explicit TempDir(Medium medium = Medium::kDisk) {
    const std::filesystem::path parent = medium == Medium::kMemory && HasRoom(kMemoryPath)
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
