// A file that is under its name only when it is whole: written beside it as NAME.part, synced, and
// then renamed. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::store {

class PartFile {
 public:
  /// kAlreadyExists when there is something under the name. What a crash left of an earlier part is
  /// written over. Only the owner may read the file.
  static base::Result<std::unique_ptr<PartFile>> Create(const std::string& path);

  /// Removes the part unless Finish has succeeded.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  base::Result<void> Write(std::string_view bytes);

  /// Where it is until then, to be read back.
  const std::string& PartPath() const { return part_; }

  /// Makes it durable under its name.
  base::Result<void> Finish();

 private:
  PartFile(std::string path, int descriptor);

  base::Result<void> Problem(std::string_view doing) const;

  const std::string path_;
  const std::string part_;
  int descriptor_;
};

}  // namespace berth::store
