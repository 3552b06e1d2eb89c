// Keeps a disk's journal beyond the program that filled it: in a file beside the directory, which
// the next program reads and removes.
#include <dirent.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "crash/disk.h"
#include "crash/real.h"

namespace faultfs {

namespace {

class Packer {
 public:
  void Add(uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  void Add(const std::string& text) {
    Add(text.size());
    bytes_ += text;
  }
  const std::string& Bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  uint64_t Number() {
    uint64_t number = 0;
    const std::string_view raw = Take(sizeof(number));
    std::memcpy(&number, raw.data(), raw.size());
    return number;
  }
  std::string Text() { return std::string(Take(Number())); }

 private:
  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) real::Give("the state of the disk cannot be read");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
};

/// Calls `each` for every file. Uses the C library's own calls, because std::filesystem would call
/// this library, which is not ready yet.
void EachFile(const std::string& directory, const std::function<void(const std::string&)>& each) {
  DIR* const open = opendir(directory.c_str());
  if (open == nullptr) return;
  while (const dirent* const entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string path = fmt::format("{}/{}", directory, name);
    if (entry->d_type == DT_DIR) {
      EachFile(path, each);
    } else {
      each(path);
    }
  }
  closedir(open);
}

}  // namespace

void Disk::Save() const {
  Packer packer;
  packer.Add(files_.size());
  for (const auto& [id, file] : files_) {
    packer.Add(id.first);
    packer.Add(id.second);
    packer.Add(file.path);
    packer.Add(file.durable_size);
  }
  packer.Add(journal_.size());
  for (const Change& change : journal_) {
    packer.Add(static_cast<uint64_t>(change.kind));
    packer.Add(change.file.first);
    packer.Add(change.file.second);
    packer.Add(change.offset);
    packer.Add(change.length);
    packer.Add(change.old_size);
    packer.Add(change.new_size);
    packer.Add(change.old);
    packer.Add(change.lost ? 1 : 0);
    packer.Add(change.path);
    packer.Add(change.to);
    packer.Add(change.hidden);
  }
  const int fd = real::Open(faults_.state, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) real::Give("cannot make " + faults_.state);
  real::WriteAll(fd, packer.Bytes(), 0);
  real::Close(fd);
}

void Disk::Load() {
  const int state = real::Open(faults_.state, O_RDONLY | O_CLOEXEC);
  if (state < 0) return;
  const std::string bytes = real::ReadAll(state, 0, real::SizeOf(state));
  real::Close(state);
  real::Unlink(faults_.state);
  Unpacker unpacker(bytes);
  for (uint64_t i = unpacker.Number(); i > 0; --i) {
    const dev_t device = unpacker.Number();
    File& file = files_[Id{device, unpacker.Number()}];
    file.path = unpacker.Text();
    file.durable_size = unpacker.Number();
  }
  for (uint64_t i = unpacker.Number(); i > 0; --i) {
    Change change;
    change.kind = static_cast<Change::Kind>(unpacker.Number());
    change.file.first = unpacker.Number();
    change.file.second = unpacker.Number();
    change.offset = unpacker.Number();
    change.length = unpacker.Number();
    change.old_size = unpacker.Number();
    change.new_size = unpacker.Number();
    change.old = unpacker.Text();
    change.lost = unpacker.Number() == 1;
    change.path = unpacker.Text();
    change.to = unpacker.Text();
    change.hidden = unpacker.Text();
    journal_.push_back(std::move(change));
  }
  OpenLoaded();
}

/// Finds files by their inodes, whatever their names are now. A file whose deletion was durable
/// needs no undoing.
void Disk::OpenLoaded() {
  for (const std::string& top : {faults_.root, faults_.shadow}) {
    EachFile(top, [this](const std::string& path) {
      struct stat status{};
      if (lstat(path.c_str(), &status) != 0) return;
      const auto file = files_.find(Id{status.st_dev, status.st_ino});
      if (file == files_.end() || file->second.fd >= 0) return;
      file->second.fd = real::Open(path, O_RDWR | O_CLOEXEC);
    });
  }
  std::erase_if(files_, [](const auto& file) { return file.second.fd < 0; });
  std::erase_if(journal_, [this](const Change& change) {
    return change.IsContent() && !files_.contains(change.file);
  });
}

}  // namespace faultfs
