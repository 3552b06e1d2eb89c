// Reads any bytes as a snapshot: the reader must end, in bounded memory, with an error or with
// entries that match its own description. Bytes with wrong checksums do not get far. So the input
// is also read as parts (2 bytes of length, then content), and the right checksum is added after
// each part.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "store/digest.h"
#include "store/snapshot_file.h"

namespace {

namespace store = berth::store;

void Read(std::string_view bytes) {
  const store::ByteSource source = [&](char* into, size_t room) -> berth::base::Result<size_t> {
    const size_t size = std::min(room, bytes.size());
    std::ranges::copy(bytes.substr(0, size), into);
    bytes.remove_prefix(size);
    return size;
  };
  store::StateSummary summary;
  std::string last;
  const store::EntrySink sink = [&](const store::Entry& entry) -> berth::base::Result<void> {
    fuzz::Require(entry.key > last && entry.key.size() <= store::kMaxKeyBytes);
    fuzz::Require(entry.revision.value > 0);
    fuzz::Require(!entry.ttl || entry.ttl->count() > 0);
    last = entry.key;
    summary.Add(entry);
    return {};
  };
  const auto info = store::ReadSnapshot(source, sink);
  if (!info) {
    fuzz::Require(info.error().reason == berth::base::Reason::kInvalid);
    fuzz::Require(!info.error().message.empty());
    return;
  }
  fuzz::Require(bytes.empty());
  fuzz::Require(info->keys == summary.keys() && info->bytes == summary.bytes());
  fuzz::Require(info->checksum == summary.Checksum());
}

std::string WithSums(std::string_view parts) {
  std::string bytes;
  store::Sha256 sum;
  while (parts.size() >= 2) {
    const size_t size = static_cast<unsigned char>(parts[0]) | static_cast<size_t>(parts[1] & 0x7f)
                                                                   << 8;
    const std::string_view content = parts.substr(2, size);
    parts.remove_prefix(2 + content.size());
    sum.Add(content);
    const store::Sha256Sum value = sum.Sum();
    const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
    sum.Add(text);
    bytes.append(content).append(text);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  Read(WithSums(bytes));
  return 0;
}
