#include "obs/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/escape.h"

namespace berth::obs {
namespace {

/// Lines are collected for this long, so that a busy server writes few large pieces,
constexpr std::chrono::milliseconds kGather{50};
/// or until there are this many bytes.
constexpr size_t kGatherBytes = size_t{64} << 10;

void AppendText(std::string& line, std::string_view key, std::string_view value) {
  line.append(",\"").append(key).append("\":");
  base::AppendJsonString(line, value);
}

void AppendMilliseconds(std::string& line, std::chrono::nanoseconds took) {
  const int64_t micros = std::max<int64_t>(0, took.count() / 1000);
  line.append(",\"ms\":").append(fmt::format_int(micros / 1000).c_str()).push_back('.');
  for (const int64_t unit : {100, 10, 1})
    line.push_back(static_cast<char>('0' + micros / unit % 10));
}

/// Appends the line of a request. It uses no format strings, which would cost
/// more than all the rest.
void WriteLine(const AuditRecord& record, std::string& line) {
  line.append("{\"time\":\"").append(base::FormatRfc3339Millis(record.time)).append("\"");
  AppendText(line, "id", record.id);
  AppendText(line, "user", record.user);
  if (record.groups != nullptr && !record.groups->empty()) {
    line += ",\"groups\":[";
    for (const std::string& group : *record.groups) {
      if (&group != record.groups->data()) line.push_back(',');
      base::AppendJsonString(line, group);
    }
    line.push_back(']');
  }
  AppendText(line, "source", record.source);
  AppendText(line, "verb", record.verb);
  AppendText(line, "method", record.method);
  AppendText(line, "uri", record.uri);
  line.append(",\"code\":").append(fmt::format_int(record.code).c_str());
  AppendMilliseconds(line, record.took);
  line.append("}\n");
}

/// Opens the file with access for its owner only, because it shows what users did.
std::FILE* OpenToAppend(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  return file < 0 ? nullptr : ::fdopen(file, "a");
}

}  // namespace

base::Result<std::unique_ptr<AuditLog>> AuditLog::Open(AuditOptions options, base::Logger& log) {
  std::FILE* file = stdout;
  uint64_t size = 0;
  if (options.path != "-") {
    file = OpenToAppend(options.path);
    if (file == nullptr) {
      return base::Fail(base::Reason::kInternalError,
                        fmt::format("cannot open the audit log {}: {}; name another one with "
                                    "--audit-log-path",
                                    options.path, std::strerror(errno)));
    }
    std::error_code error;
    const auto found = std::filesystem::file_size(options.path, error);
    if (!error) size = found;
  }
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(options), log, file, size));
}

AuditLog::AuditLog(AuditOptions options, base::Logger& log, std::FILE* file, uint64_t size)
    : options_(std::move(options)), log_(log), file_(file), size_(size) {
  thread_ = std::thread([this] { Run(); });
}

AuditLog::~AuditLog() {
  {
    base::MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void AuditLog::Write(const AuditRecord& record) {
  thread_local std::string line;  // Keeps its capacity between requests.
  line.clear();
  WriteLine(record, line);
  base::MutexLock lock(mutex_);
  if (waiting_.size() + line.size() > options_.max_waiting_bytes) {
    ++dropped_;
    ++dropped_since_;
    return;
  }
  if (dropped_since_ > 0) {
    fmt::format_to(std::back_inserter(waiting_), "{{\"dropped\":{}}}\n",
                   std::exchange(dropped_since_, 0));
  }
  const bool was_small = waiting_.size() < kGatherBytes;
  const bool was_empty = waiting_.empty();
  waiting_ += line;
  if (was_empty || (was_small && waiting_.size() >= kGatherBytes)) changed_.NotifyAll();
}

void AuditLog::Flush() {
  base::MutexLock lock(mutex_);
  hurry_ = true;
  changed_.NotifyAll();
  while (!waiting_.empty() || writing_) changed_.Wait(mutex_);
  hurry_ = false;
}

uint64_t AuditLog::Dropped() const {
  base::MutexLock lock(mutex_);
  return dropped_;
}

void AuditLog::Run() {
  std::string lines;
  base::MutexLock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !stop_) changed_.Wait(mutex_);
    if (waiting_.empty()) return;
    if (!stop_ && !hurry_ && waiting_.size() < kGatherBytes) changed_.WaitFor(mutex_, kGather);
    lines.clear();
    lines.swap(waiting_);
    writing_ = true;
    lock.Unlock();
    WriteOut(lines);
    lock.Lock();
    writing_ = false;
    changed_.NotifyAll();
  }
}

void AuditLog::WriteOut(std::string_view lines) {
  if (options_.path != "-" && size_ > 0 && size_ + lines.size() > options_.max_bytes) Rotate();
  if (file_ == nullptr) file_ = OpenToAppend(options_.path);
  const bool fine = file_ != nullptr &&
                    std::fwrite(lines.data(), 1, lines.size(), file_) == lines.size() &&
                    std::fflush(file_) == 0;
  if (!fine && !failing_) {
    log_.Error("cannot write the audit log",
               {{"file", options_.path}, {"why", std::strerror(errno)}});
  }
  failing_ = !fine;
  if (fine) size_ += lines.size();
}

void AuditLog::Rotate() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
  size_ = 0;
  std::error_code error;
  const auto name = [this](size_t number) {
    return number == 0 ? options_.path : fmt::format("{}.{}", options_.path, number);
  };
  if (options_.backups == 0) {
    std::filesystem::remove(options_.path, error);
    return;
  }
  for (size_t number = options_.backups; number > 0; --number) {
    std::filesystem::rename(name(number - 1), name(number), error);
  }
}

}  // namespace berth::obs
