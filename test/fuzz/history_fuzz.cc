// Reads any bytes as a segment of a history: the reader must end, and every entry must make sense.
// Bytes with wrong checksums do not get far. So the input is also read as the content of blocks
// with right ones, each of at most 100 bytes, after a right beginning.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "history/segment_reader.h"

namespace {

namespace history = berth::history;

void Read(std::string_view bytes) {
  const history::ReadAt read = [bytes](uint64_t offset,
                                       std::span<char> into) -> berth::base::Result<size_t> {
    if (offset >= bytes.size()) return size_t{0};
    const std::string_view part = bytes.substr(offset, into.size());
    std::ranges::copy(part, into.begin());
    return part.size();
  };
  auto reader = history::SegmentReader::Open(read, 1);
  if (!reader) {
    fuzz::Require(!reader.error().message.empty());
    return;
  }
  history::Entry entry;
  while (reader->Next(entry)) {
    fuzz::Require(entry.kind <= history::EntryKind::kChecked);
    const bool of_value = entry.kind == history::EntryKind::kTaken ||
                          entry.kind == history::EntryKind::kReleased ||
                          entry.kind == history::EntryKind::kHeld;
    if (!of_value) continue;
    fuzz::Require(entry.owner < reader->entries().owners().size());
    const history::Owner owner = reader->OwnerOf(entry.owner);
    fuzz::Require(owner.name.size() <= history::kMaxNameBytes);
    fuzz::Require(!berth::alloc::TextOf(entry.held.value).empty());
  }
  fuzz::Require(reader->good_bytes() <= bytes.size());
  reader->HasBlocksAfterDamage();
}

void AddBlock(std::string_view payload, std::string& file) {
  const uint32_t sum = history::BlockChecksum(1, file.size(), payload);
  for (const uint32_t number : {static_cast<uint32_t>(payload.size()), sum}) {
    for (unsigned shift = 0; shift < 32; shift += 8) file += static_cast<char>(number >> shift);
  }
  file += payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kBlock = 100;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  std::string file(history::kSegmentMagic);
  AddBlock(history::EncodeHeader({.number = 1, .start = 1'770'000'000'000}), file);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kBlock, bytes.size()))) {
    AddBlock(bytes.substr(0, kBlock), file);
  }
  Read(file);
  return 0;
}
