#include "crash/oplog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/crc32c.h"

namespace crash {

namespace {

using berth::base::Crc32c;
using berth::store::Outcome;

/// Returns the start of a value: "op=123 /registry/...:". Letters that depend on both follow it.
std::string HeadOf(OpId op, std::string_view key) { return fmt::format("op={} {}:", op, key); }

char OutcomeLetter(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCommitted:
      return 'K';
    case Outcome::kConflict:
      return 'X';
    case Outcome::kRefused:
      return 'R';
    case Outcome::kUnknown:
      break;
  }
  return 'U';
}

Print ReadPrint(std::istream& in) {
  Print print;
  in >> print.op >> print.size >> print.crc;
  return print;
}

Attempt ReadAttempt(std::istream& in) {
  Attempt attempt;
  size_t compares = 0;
  size_t puts = 0;
  size_t deletes = 0;
  in >> attempt.op >> compares >> puts >> deletes;
  for (size_t i = 0; i < compares && in; ++i) {
    auto& compare = attempt.compares.emplace_back();
    in >> compare.key >> compare.revision.value;
  }
  for (size_t i = 0; i < puts && in; ++i) {
    auto& put = attempt.puts.emplace_back();
    in >> put.key >> put.size;
  }
  for (size_t i = 0; i < deletes && in; ++i) in >> attempt.deletes.emplace_back();
  return attempt;
}

Reply ReadReply(char letter, std::istream& in) {
  Reply reply;
  if (letter == 'K') {
    reply.outcome = Outcome::kCommitted;
    size_t puts = 0;
    size_t deletes = 0;
    in >> puts >> deletes;
    for (size_t i = 0; i < puts && in; ++i) in >> reply.puts.emplace_back();
    for (size_t i = 0; i < deletes && in; ++i) in >> reply.deletes.emplace_back();
  } else if (letter == 'X') {
    reply.outcome = Outcome::kConflict;
    size_t seen = 0;
    in >> seen;
    for (size_t i = 0; i < seen && in; ++i) {
      auto& compare = reply.seen.emplace_back();
      in >> compare.key >> compare.revision.value;
    }
  } else if (letter == 'R') {
    reply.outcome = Outcome::kRefused;
  }
  return reply;
}

/// Parses one line. Returns false if it is not understood.
bool ReadLine(const std::string& line, OpLog& log) {
  std::istringstream in(line);
  char letter = ' ';
  in >> letter;
  FoundEvent event;
  std::string key;
  FoundKey found;
  OpId op = 0;
  switch (letter) {
    case 'N':
    case 'O':
      in >> key >> found.revision;
      found.print = ReadPrint(in);
      (letter == 'N' ? log.keys : log.old_keys)[key] = found;
      break;
    case 'P':
    case 'D':
      event.is_put = letter == 'P';
      in >> event.key >> event.revision;
      if (event.is_put) event.print = ReadPrint(in);
      log.events.push_back(event);
      break;
    case 'G':
      in >> log.current;
      log.ready = true;
      break;
    case 'A':
      log.attempts.push_back(ReadAttempt(in));
      break;
    case 'K':
      if (!log.faults.empty()) ++log.committed_after_fault;
      [[fallthrough]];
    case 'X':
    case 'R':
    case 'U':
      in >> op;
      log.replies[op] = ReadReply(letter, in);
      break;
    case 'I':
      log.idle = true;
      break;
    case 'F':
      log.faults.push_back(line.substr(2));
      break;
    case 'E':
      log.error = line.substr(2);
      break;
    default:
      return false;
  }
  return !in.fail();
}

}  // namespace

std::string ValueOf(OpId op, std::string_view key, size_t size) {
  std::string value = HeadOf(op, key);
  value.reserve(size);
  uint64_t state = op * 0x9e3779b97f4a7c15 + key.size();
  while (value.size() < size) {
    state = state * 6364136223846793005 + 1442695040888963407;
    value += static_cast<char>('a' + (state >> 33) % 26);
  }
  return value;
}

Print PrintOf(std::string_view value) {
  Print print{.size = value.size(), .crc = Crc32c(value)};
  if (value.starts_with("op=")) {
    std::from_chars(value.data() + 3, value.data() + value.size(), print.op);
  }
  return print;
}

OpLog ParseOpLog(std::string_view text) {
  OpLog log;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    const std::string line(text.substr(begin, end - begin));
    if (!ReadLine(line, log)) log.error = "not understood: " + line;
    begin = end + 1;
  }
  return log;
}

OpLogWriter::OpLogWriter(const std::string& path)
    : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}

OpLogWriter::~OpLogWriter() { close(fd_); }

void OpLogWriter::Line(const std::string& line) {
  const std::string whole = line + "\n";
  if (write(fd_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) _exit(98);
}

void OpLogWriter::Key(const berth::store::Entry& entry, bool old) {
  const Print print = PrintOf(entry.value);
  Line(fmt::format("{} {} {} {} {} {}", old ? 'O' : 'N', entry.key, entry.revision.value, print.op,
                   print.size, print.crc));
}

void OpLogWriter::Event(const berth::store::Event& event) {
  if (event.type == berth::store::Event::Type::kDelete) {
    Line(fmt::format("D {} {}", event.key, event.revision.value));
    return;
  }
  const Print print = PrintOf(event.value);
  Line(fmt::format("P {} {} {} {} {}", event.key, event.revision.value, print.op, print.size,
                   print.crc));
}

void OpLogWriter::Ready(berth::store::Revision current) {
  Line(fmt::format("G {}", current.value));
}

void OpLogWriter::Attempting(const Attempt& attempt) {
  std::string line = fmt::format("A {} {} {} {}", attempt.op, attempt.compares.size(),
                                 attempt.puts.size(), attempt.deletes.size());
  for (const auto& compare : attempt.compares) {
    line += fmt::format(" {} {}", compare.key, compare.revision.value);
  }
  for (const auto& put : attempt.puts) line += fmt::format(" {} {}", put.key, put.size);
  for (const auto& key : attempt.deletes) line += " " + key;
  Line(line);
}

void OpLogWriter::Replied(OpId op, const berth::store::Txn& txn,
                          const berth::store::TxnReply& reply) {
  std::string line = fmt::format("{} {}", OutcomeLetter(reply.outcome), op);
  if (reply.outcome == Outcome::kCommitted) {
    line += fmt::format(" {} {}", reply.puts.size(), reply.deletes.size());
    for (const auto revision : reply.puts) line += fmt::format(" {}", revision.value);
    for (const auto revision : reply.deletes) line += fmt::format(" {}", revision.value);
  } else if (reply.outcome == Outcome::kConflict) {
    line += fmt::format(" {}", reply.conflicts.size());
    for (const auto& conflict : reply.conflicts) {
      line += fmt::format(" {} {}", txn.compares[conflict.compare].key,
                          conflict.current ? conflict.current->revision.value : 0);
    }
  } else {
    line += " " + reply.error.message;
  }
  Line(line);
}

void OpLogWriter::Idle() { Line("I"); }

void OpLogWriter::Error(std::string_view what) {
  std::string line = fmt::format("E {}", what);
  std::ranges::replace(line, '\n', ' ');
  Line(line);
}

}  // namespace crash
