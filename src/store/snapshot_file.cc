#include "store/snapshot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/go_text.h"
#include "store/blocking.h"
#include "store/keys.h"
#include "store/part_file.h"
#include "store/snapshot_file_format.h"

namespace berth::store {
namespace {

/// A block is closed once it has this many bytes.
constexpr size_t kBlockBytes = size_t{256} << 10;

std::string_view Text(const Sha256Sum& sum) {
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

class Writer {
 public:
  explicit Writer(const ByteSink& sink) : sink_(sink) {}

  base::Result<void> Begin(const SnapshotFileOptions& options, base::WallTime created,
                           Revision revision) {
    info_.created = std::chrono::floor<std::chrono::milliseconds>(created);
    info_.revision = revision;
    info_.source = options.source.substr(0, kMaxSourceBytes);
    std::string header(kSnapshotMagic);
    AppendNumber(header, kSnapshotFormat);
    const auto since = info_.created.time_since_epoch();
    AppendSigned(header, std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    AppendSigned(header, revision.value);
    AppendNumber(header, static_cast<uint16_t>(info_.source.size()));
    header += info_.source;
    return WriteSummed(std::move(header));
  }

  base::Result<void> Add(const Entry& entry) {
    summary_.Add(entry);
    AppendNumber(entries_, static_cast<uint16_t>(entry.key.size()));
    entries_ += entry.key;
    AppendNumber(entries_, static_cast<uint32_t>(entry.value.size()));
    entries_ += entry.value;
    AppendSigned(entries_, entry.revision.value);
    // 0 would mean that the key does not expire, also for a key that is just about to expire.
    AppendSigned(entries_, entry.ttl ? std::max<int64_t>(entry.ttl->count(), 1) : 0);
    return entries_.size() < kBlockBytes ? base::Result<void>() : CloseBlock();
  }

  base::Result<SnapshotFileInfo> Finish() {
    if (auto closed = CloseBlock(); !closed) return tl::unexpected(closed.error());
    info_.keys = summary_.keys();
    info_.expiring = summary_.expiring();
    info_.bytes = summary_.bytes();
    info_.checksum = summary_.Checksum();
    std::string trailer(1, kTrailerMark);
    for (const uint64_t number : {info_.keys, info_.expiring, info_.bytes}) {
      AppendNumber(trailer, number);
    }
    trailer += Text(info_.checksum);
    if (auto written = WriteSummed(std::move(trailer)); !written) {
      return tl::unexpected(written.error());
    }
    return info_;
  }

  const StateSummary& summary() const { return summary_; }

 private:
  base::Result<void> CloseBlock() {
    if (entries_.empty()) return {};
    std::string block(1, kBlockMark);
    AppendNumber(block, static_cast<uint32_t>(entries_.size()));
    block += std::exchange(entries_, {});
    return WriteSummed(std::move(block));
  }

  base::Result<void> WriteSummed(std::string bytes) {
    sum_.Add(bytes);
    const Sha256Sum sum = sum_.Sum();
    sum_.Add(Text(sum));
    bytes += Text(sum);
    info_.file_bytes += bytes.size();
    return sink_(bytes);
  }

  const ByteSink& sink_;
  Sha256 sum_;
  StateSummary summary_;
  SnapshotFileInfo info_;
  std::string entries_;  // The entries of the block that is being filled.
};

base::Result<void> AddPage(Writer& writer, ScanPage& page, const SnapshotFileOptions& options) {
  for (Entry& entry : page.entries) {
    if (entry.key == kCopyNoteKey) {
      return base::Fail(base::Reason::kConflict,
                        fmt::format("the store is incomplete: it holds an unfinished copy ({})",
                                    base::ToVisible(entry.value)));
    }
    if (options.normalise) options.normalise(entry.key, entry.value);
    if (auto added = writer.Add(entry); !added) return added;
  }
  if (options.progress) options.progress(writer.summary().keys(), writer.summary().bytes());
  return {};
}

}  // namespace

base::Result<SnapshotFileInfo> SaveSnapshot(Engine& engine, const ByteSink& sink,
                                            const SnapshotFileOptions& options,
                                            const base::Clock& clock) {
  Writer writer(sink);
  ScanRequest request{.prefix = std::string(kPrefix), .with_ttl = true};
  bool first = true;
  for (bool more = true; more;) {
    base::Result<ScanPage> page = ScanPageNow(engine, request);
    if (!page) return tl::unexpected(page.error());
    if (std::exchange(first, false)) {
      const auto begun = writer.Begin(options, clock.Now(), page->at);
      if (!begun) return tl::unexpected(begun.error());
    }
    request.at = page->at;
    more = page->more;
    if (more) request.after = page->entries.back().key;
    if (auto added = AddPage(writer, *page, options); !added) return tl::unexpected(added.error());
  }
  return writer.Finish();
}

base::Result<SnapshotFileInfo> SaveSnapshotFile(Engine& engine, const std::string& path,
                                                const SnapshotFileOptions& options,
                                                const base::Clock& clock) {
  auto file = PartFile::Create(path);
  if (!file) return tl::unexpected(file.error());
  const ByteSink sink = [&](std::string_view bytes) { return (*file)->Write(bytes); };
  auto info = SaveSnapshot(engine, sink, options, clock);
  if (!info) return info;
  if (auto finished = (*file)->Finish(); !finished) return tl::unexpected(finished.error());
  return info;
}

}  // namespace berth::store
