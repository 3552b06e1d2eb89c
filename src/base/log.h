// Structured logging. An event is a message with named fields, and is written as
// exactly one line of text or JSON. A Logger is created once in main and passed by
// reference; there is no global one.
//
//   log.Info("listening", {{"address", addr}, {"port", 6443}});
//
//   2026-11-15T04:35:00.123Z INFO  listening address=127.0.0.1 port=6443
//   {"time":"2026-11-15T04:35:00.123Z","level":"info","msg":"listening","address":...,"port":6443}
//
// Text: keys and values are written as JSON strings if they are empty or contain
// spaces, quotes, '=', backslashes or anything but printable ASCII. So are messages,
// except that they may contain spaces.
// JSON: a field called time, level or msg is written as field_time, field_level or
// field_msg, and a field already called that gets one more `field_`. If several fields have
// the same key, the last one counts.
//
// Threads: every function may be called from any thread. Logging never waits for the sink. Lines go
// through a bounded queue; when it is full, the oldest lines are dropped, and a warning before the
// next line says how many. The destructor waits until the sink has taken all lines.
// Errors: a line that the sink cannot take is lost. Logging never fails for its caller.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"

namespace berth::base {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : uint8_t { kText, kJson };

/// Takes one finished line, which ends in '\n'. It is called only from the logger's own thread, one
/// call at a time. It must not throw, nor log to the same logger.
using LogSink = std::function<void(std::string_view line)>;

struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel minimum = LogLevel::kInfo;
  LogSink sink = nullptr;     // Standard error if unset.
  size_t queue_lines = 4096;  // At least 1. Memory for them is reserved up front.
};

/// The value of a field. It does not own its strings, and lives as long as the log call.
class LogValue {
 public:
  using Variant = std::variant<std::string_view, int64_t, uint64_t, bool, double>;

  // The constructors are implicit, so that a field is written {"port", 6443}.
  // NOLINTBEGIN(google-explicit-constructor)
  LogValue(std::string_view text) : value_(text) {}
  LogValue(const std::string& text) : value_(std::string_view(text)) {}
  LogValue(const char* text) : value_(std::string_view(text)) {}
  LogValue(std::same_as<bool> auto value) : value_(value) {}
  LogValue(std::signed_integral auto value) : value_(int64_t{value}) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  LogValue(T value) : value_(uint64_t{value}) {}
  LogValue(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  // NOLINTEND(google-explicit-constructor)

  const Variant& Get() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  std::string_view key;
  LogValue value;
};

using LogFields = std::initializer_list<LogField>;

class Logger {
 public:
  /// `clock` must outlive the logger.
  Logger(const LogOptions& options, const Clock& clock);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  /// For callers whose fields are costly to compute. The functions below
  /// check the level themselves.
  bool Enabled(LogLevel level) const { return level >= minimum_; }

  void Debug(std::string_view message, LogFields fields = {}) {
    if (Enabled(LogLevel::kDebug)) Write(LogLevel::kDebug, message, fields);
  }
  void Info(std::string_view message, LogFields fields = {}) {
    if (Enabled(LogLevel::kInfo)) Write(LogLevel::kInfo, message, fields);
  }
  void Warn(std::string_view message, LogFields fields = {}) {
    if (Enabled(LogLevel::kWarn)) Write(LogLevel::kWarn, message, fields);
  }
  void Error(std::string_view message, LogFields fields = {}) {
    if (Enabled(LogLevel::kError)) Write(LogLevel::kError, message, fields);
  }

 private:
  class Queue;

  void Write(LogLevel level, std::string_view message, LogFields fields);

  const LogFormat format_;
  const LogLevel minimum_;
  const Clock& clock_;
  const std::unique_ptr<Queue> queue_;
};

}  // namespace berth::base
