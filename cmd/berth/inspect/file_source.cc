#include "berth/inspect/file_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "codec/json.h"
#include "codec/json_items.h"
#include "codec/yaml_documents.h"
#include "codec/yaml_read.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

std::string NameOfFile(const std::string& path) { return path == "-" ? "standard input" : path; }

tl::unexpected<base::Error> BadFile(const std::string& path, std::string_view why) {
  return base::Fail(Reason::kInvalid, fmt::format("{}: {}", NameOfFile(path), why));
}

/// A file or standard input, read in parts.
class Input {
 public:
  explicit Input(const std::string& path)
      : descriptor_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Input() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Appends the next part to the buffer. Returns false at the end.
  Result<bool> ReadMore(std::string& buffer) {
    constexpr size_t kPart = size_t{1} << 18;  // Small enough to stay in the processor's cache.
    const size_t before = buffer.size();
    buffer.resize(before + kPart);
    ssize_t got = 0;
    do {
      got = descriptor_ < 0 ? -1 : read(descriptor_, buffer.data() + before, kPart);
    } while (got < 0 && errno == EINTR);
    buffer.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) return base::Fail(Reason::kInvalid, std::strerror(errno));
    total_ += static_cast<size_t>(got);
    if (total_ > kMaxClusterFileBytes) {
      return base::Fail(Reason::kInvalid, "it is larger than 1 GiB");
    }
    return got > 0;
  }

 private:
  const int descriptor_;
  size_t total_ = 0;
};

size_t FirstOfText(std::string_view text) { return text.find_first_not_of(" \t\r\n"); }

size_t LinesIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

size_t LineAt(std::string_view text, size_t position) {
  return LinesIn(text.substr(0, position)) + 1;
}

/// Reads a list item by item, so that a large file needs little memory. `buffer` has the beginning.
Result<size_t> ReadJsonObjects(Input& input, std::string& buffer, inspect::ClusterReader& reader) {
  size_t used = 0;
  size_t lines = 0;                 // Before the buffer.
  std::vector<codec::Value> later;  // Items whose kind only the end of the list tells.
  std::optional<base::Error> error;
  codec::JsonItemScanner* of_list = nullptr;
  codec::JsonItemScanner scanner([&](std::string_view item) {
    const auto parsed = codec::ParseJson(item, {.bytes = kMaxClusterFileBytes});
    if (!parsed) {
      const auto position = static_cast<size_t>(item.data() - buffer.data());
      error = base::Error{
          .reason = Reason::kInvalid,
          .message = fmt::format("the object at line {} cannot be read: {}",
                                 lines + LineAt(buffer, position), parsed.error().message)};
      return false;
    }
    const auto type = inspect::ItemTypeOf(of_list->list_version(), of_list->list_kind());
    const bool named = parsed->Find("kind") != nullptr || parsed->AsObject() == nullptr;
    if (named || !type.kind.empty()) {
      used += reader.AddAny(*parsed, type);
    } else {
      later.push_back(*parsed);
    }
    return true;
  });
  of_list = &scanner;
  for (bool more = true; more;) {
    const auto done = scanner.Scan(buffer);
    if (error) return tl::unexpected(*error);
    if (!done) return tl::unexpected(done.error());
    lines += LinesIn(std::string_view(buffer).substr(0, *done));
    buffer.erase(0, *done);
    const auto got = input.ReadMore(buffer);
    if (!got) return tl::unexpected(got.error());
    more = *got;
  }
  if (const auto finished = scanner.Finish(); !finished) return tl::unexpected(finished.error());
  const auto type = inspect::ItemTypeOf(scanner.list_version(), scanner.list_kind());
  for (const codec::Value& item : later) used += reader.AddAny(item, type);
  return used;
}

Result<size_t> ReadYamlObjects(std::string_view text, inspect::ClusterReader& reader) {
  size_t used = 0;
  for (const codec::YamlPiece& document : codec::SplitYaml(text)) {
    const auto parsed = codec::ParseYaml(document.text, {.bytes = kMaxClusterFileBytes});
    if (!parsed) {
      return base::Fail(Reason::kInvalid, fmt::format("the document at line {} cannot be read: {}",
                                                      document.line, parsed.error().message));
    }
    used += reader.AddAny(parsed->value);
  }
  return used;
}

Result<size_t> ReadObjects(const std::string& path, inspect::ClusterReader& reader) {
  Input input(path);
  std::string buffer;
  const auto read_more = [&]() { return input.ReadMore(buffer); };
  Result<bool> more = read_more();
  while (more && *more && FirstOfText(buffer) == std::string::npos) more = read_more();
  if (!more) return tl::unexpected(more.error());
  const size_t first = FirstOfText(buffer);
  if (first != std::string::npos && (buffer[first] == '{' || buffer[first] == '[')) {
    return ReadJsonObjects(input, buffer, reader);
  }
  while (more && *more) more = read_more();
  if (!more) return tl::unexpected(more.error());
  return ReadYamlObjects(buffer, reader);
}

}  // namespace

Result<void> ReadClusterFiles(const std::vector<std::string>& files,
                              inspect::ClusterReader& reader) {
  for (const std::string& path : files) {
    const auto used = ReadObjects(path, reader);
    if (!used) return BadFile(path, used.error().message);
    if (*used == 0) {
      return BadFile(path,
                     "it holds no Service, range or address; give what `kubectl get services "
                     "-A -o json` prints");
    }
    std::string& source = reader.view().source;
    if (!source.empty()) source += ", ";
    source += NameOfFile(path);
  }
  reader.view().keeps = reader.KeepsByRecords();
  if (reader.view().records.empty()) {
    reader.AddGap({.what = "IPAddresses are not in the files, so addresses that are reserved or "
                           "that have a record but no Service count as free",
                   .advice = "kubectl get services,servicecidrs,ipaddresses -A -o json"});
  }
  return {};
}

}  // namespace berth::cli
