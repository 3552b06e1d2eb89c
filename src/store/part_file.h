// A file that has its name only once it is complete. It is written as NAME.part in the same
// directory, synced, and then renamed. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::store {

class PartFile {
 public:
  /// Creates the part. Fails with kAlreadyExists if a file has the name already. Overwrites an
  /// earlier part that a crash left. Only the owner may read the file.
  static base::Result<std::unique_ptr<PartFile>> Create(const std::string& path);

  /// Removes the part unless Finish has succeeded.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  base::Result<void> Write(std::string_view bytes);

  /// Returns the path of the part, so that the caller can read it before Finish.
  const std::string& PartPath() const { return part_; }

  /// Gives the file its name and makes both durable.
  base::Result<void> Finish();

 private:
  PartFile(std::string path, int descriptor);

  base::Result<void> Problem(std::string_view doing) const;

  const std::string path_;
  const std::string part_;
  int descriptor_;
};

}  // namespace berth::store
