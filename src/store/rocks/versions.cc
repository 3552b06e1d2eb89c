#include "store/rocks/versions.h"

#include <array>

namespace berth::store::rocks {
namespace {

/// The number of versions that are passed one by one before it is cheaper to seek.
constexpr int kPassed = 8;

rocksdb::Status BadRow(std::string_view family) {
  return rocksdb::Status::Corruption("a row cannot be read in the family " + std::string(family));
}

/// Returns the smallest string above every string that begins with `prefix`. Returns an empty
/// string if no string is above all of them.
std::string Behind(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<uint8_t>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

/// Returns a bound after all versions of `key`. No key contains a NUL, so the versions of no other
/// key lie in between.
std::string BehindKey(std::string_view key) {
  std::string end(key);
  end.push_back('\x01');
  return end;
}

}  // namespace

rocksdb::Status ReadVersion(const Database& database, std::string_view key, Revision revision,
                            const rocksdb::Snapshot* snapshot, StoredVersion& version) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  rocksdb::PinnableSlice row;
  rocksdb::Status status =
      database.Db().Get(options, database.Handle(Family::kData), DataKey(key, revision), &row);
  if (!status.ok()) return status;
  const auto decoded = DecodeVersion(ViewOf(row));
  if (!decoded) return BadRow(kDataFamily);
  version.op = decoded->op;
  version.deadline = decoded->deadline;
  version.value = decoded->value;
  return status;
}

StateCursor::StateCursor(const Database& database, const Range& range)
    : at_(range.at), end_(Behind(range.prefix)), end_slice_(end_) {
  rocksdb::ReadOptions options;
  if (!end_.empty()) options.iterate_upper_bound = &end_slice_;
  if (range.whole_store) {
    options.fill_cache = false;
    options.readahead_size = size_t{2} << 20;
  }
  rows_.reset(database.Db().NewIterator(options, database.Handle(Family::kData)));
  if (range.after >= range.prefix && !range.after.empty()) {
    rows_->Seek(BehindKey(range.after));
  } else {
    rows_->Seek(range.prefix);
  }
  FindExisting();
}

void StateCursor::Next() {
  Skip();
  FindExisting();
}

/// Moves from the current row to the first row that is the version of an existing key at `at_`.
void StateCursor::FindExisting() {
  for (valid_ = false; rows_->Valid(); Skip()) {
    const auto name = DecodeDataKey(ViewOf(rows_->key()));
    if (!name) {
      error_ = BadRow(kDataFamily);
      return;
    }
    if (name->key != key_) {
      key_ = name->key;
      settled_ = false;
      passed_ = 0;
    }
    if (settled_ || name->revision > at_) continue;
    const auto version = DecodeVersion(ViewOf(rows_->value()));
    if (!version) {
      error_ = BadRow(kDataFamily);
      return;
    }
    settled_ = true;
    if (version->op == Op::kDelete) continue;
    revision_ = name->revision;
    version_ = *version;
    valid_ = true;
    return;
  }
}

void StateCursor::Skip() {
  if (++passed_ <= kPassed) {
    rows_->Next();
    return;
  }
  passed_ = 0;
  rows_->Seek(settled_ ? BehindKey(key_) : DataKey(key_, at_));
}

}  // namespace berth::store::rocks
