#include "store/rocks/loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "store/rocks/versions.h"

namespace berth::store::rocks {
namespace {

using base::Reason;

tl::unexpected<base::Error> Failed(const std::string& directory, const rocksdb::Status& status) {
  return tl::unexpected(DatabaseError("read", directory, status));
}

std::unique_ptr<rocksdb::Iterator> Rows(const Database& database, Family family) {
  rocksdb::ReadOptions once;
  once.fill_cache = false;
  return std::unique_ptr<rocksdb::Iterator>(
      database.Db().NewIterator(once, database.Handle(family)));
}

rocksdb::Status ReadNote(const Database& database, std::string_view name, std::string& value) {
  return database.Db().Get(rocksdb::ReadOptions(), database.Handle(Family::kNotes), name, &value);
}

rocksdb::Status ReadSamples(const Database& database, std::vector<Sample>& samples) {
  const auto rows = Rows(database, Family::kNotes);
  for (rows->Seek(SampleKey(0)); rows->Valid(); rows->Next()) {
    const auto sample = DecodeSample(ViewOf(rows->key()), ViewOf(rows->value()));
    if (!sample) break;  // The row is another note.
    samples.push_back(*sample);
  }
  return rows->status();
}

/// Reads the last revision of the log, and how many bytes of it came after the last sample.
rocksdb::Status ReadLog(const Database& database, LoadedState& state) {
  const Revision counted = state.samples.empty() ? Revision{} : state.samples.back().revision;
  const auto rows = Rows(database, Family::kLog);
  const Number from = EncodeRevision({counted.value + 1});
  for (rows->Seek(View(from)); rows->Valid(); rows->Next()) {
    state.history_bytes += rows->key().size() + rows->value().size();
  }
  if (!rows->status().ok()) return rows->status();
  rows->SeekToLast();
  if (!rows->Valid()) return rows->status();
  LogRecord record(DecodeRevision(ViewOf(rows->key())).value_or(Revision{}), ViewOf(rows->value()));
  while (!record.AtEnd()) {
    if (!record.Take()) return rocksdb::Status::Corruption("the last log record cannot be read");
  }
  state.last = std::max(state.last, Revision{record.NextRevision().value - 1});
  return rocksdb::Status::OK();
}

bool IsEmpty(const Database& database, Family family) {
  const auto rows = Rows(database, family);
  rows->SeekToFirst();
  return !rows->Valid() && rows->status().ok();
}

}  // namespace

base::Result<bool> HasNotes(const std::string& directory, const Database& database) {
  std::string format;
  const rocksdb::Status status = ReadNote(database, kFormatNote, format);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return Failed(directory, status);
  if (format == kFormat) return true;
  return base::Fail(Reason::kConflict,
                    fmt::format("the store in {} has format {:?}, and this Berth knows format {}: "
                                "start the version of Berth that wrote it",
                                directory, format, kFormat));
}

base::Result<void> MakeStore(const std::string& directory, const Database& database,
                             Revision base) {
  for (const Family family : {Family::kNotes, Family::kData, Family::kLog, Family::kExpiry}) {
    if (IsEmpty(database, family)) continue;
    return base::Fail(Reason::kConflict,
                      fmt::format("{} holds a RocksDB database that is not a store of Berth; name "
                                  "a directory that is empty or does not exist",
                                  directory));
  }
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* notes = database.Handle(Family::kNotes);
  const Number compacted = EncodeRevision(base);
  batch.Put(notes, std::string(kFormatNote), std::string(kFormat));
  batch.Put(notes, std::string(kCompactedNote), View(compacted));
  rocksdb::WriteOptions options;
  options.sync = true;
  rocksdb::Status status = database.Db().Write(options, &batch);
  // Flushes the notes into a table at once, because the base must not be lost with a torn log.
  if (status.ok()) status = database.Db().Flush(rocksdb::FlushOptions(), notes);
  if (!status.ok()) return tl::unexpected(DatabaseError("write to", directory, status));
  return {};
}

base::Result<LoadedState> ReadNotes(const std::string& directory, const Database& database) {
  LoadedState state;
  std::string compacted;
  rocksdb::Status status = ReadNote(database, kCompactedNote, compacted);
  if (!status.ok()) return Failed(directory, status);
  const auto revision = DecodeRevision(compacted);
  if (!revision) return Failed(directory, rocksdb::Status::Corruption("a note cannot be read"));
  state.compacted = *revision;
  state.last = *revision;
  status = ReadSamples(database, state.samples);
  if (!status.ok()) return Failed(directory, status);
  if (!state.samples.empty()) state.history_bytes = state.samples.back().bytes;
  status = ReadLog(database, state);
  if (!status.ok()) return Failed(directory, status);
  return state;
}

base::Result<void> LoadIndex(const std::string& directory, const Database& database,
                             const LoadedState& state, KeyIndex& index) {
  if (!state.samples.empty()) index.Reserve(state.samples.back().keys);
  StateCursor cursor(database, {.prefix = {}, .after = {}, .at = {INT64_MAX}, .whole_store = true});
  Revision last = state.last;
  for (; cursor.Valid(); cursor.Next()) {
    index.Load(index.Hash(cursor.Key()), cursor.LastPut());
    last = std::max(last, cursor.LastPut());
  }
  if (!cursor.Error().ok()) return Failed(directory, cursor.Error());
  if (last > state.last) {
    return Failed(directory, rocksdb::Status::Corruption("the log ends before the newest version"));
  }
  index.Publish({}, last);
  return {};
}

}  // namespace berth::store::rocks
