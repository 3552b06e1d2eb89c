#include "base/log.h"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/sink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/escape.h"

namespace berth::base {
namespace {

struct LevelNames {
  std::string_view text;  // Padded, so that messages are aligned.
  std::string_view json;
};

constexpr std::array kLevelNames = {
    LevelNames{"DEBUG", "debug"},
    LevelNames{"INFO ", "info"},
    LevelNames{"WARN ", "warn"},
    LevelNames{"ERROR", "error"},
};

constexpr std::string_view kFieldPrefix = "field_";

const LevelNames& Names(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

bool IsBareByte(char c) { return c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\'; }

// Appends a word of the text form, without quotes where it cannot be misread.
void AppendWord(std::string& out, std::string_view word, bool allow_spaces = false) {
  const bool bare = std::all_of(word.begin(), word.end(), [allow_spaces](char c) {
    return IsBareByte(c) || (allow_spaces && c == ' ');
  });
  if (bare && !word.empty()) {
    out += word;
  } else {
    AppendJsonString(out, word);
  }
}

std::string_view NonFiniteName(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

// Appends the value of a field. The two forms pass different functions for strings.
template <typename AppendString>
void AppendValue(std::string& out, const LogValue& value, AppendString append_string) {
  const LogValue::Variant& variant = value.Get();
  if (const auto* text = std::get_if<std::string_view>(&variant)) {
    append_string(out, *text);
  } else if (const auto* flag = std::get_if<bool>(&variant)) {
    out += *flag ? "true" : "false";
  } else if (const auto* integer = std::get_if<int64_t>(&variant)) {
    out += std::to_string(*integer);
  } else if (const auto* natural = std::get_if<uint64_t>(&variant)) {
    out += std::to_string(*natural);
  } else if (const double number = std::get<double>(variant); std::isfinite(number)) {
    AppendJsonDouble(out, number);
  } else {
    append_string(out, NonFiniteName(number));
  }
}

bool IsReserved(std::string_view key) {
  while (key.starts_with(kFieldPrefix)) key.remove_prefix(kFieldPrefix.size());
  return key == "time" || key == "level" || key == "msg";
}

bool ComesAgain(LogFields fields, const LogField& field) {
  return std::any_of(&field + 1, fields.end(),
                     [&field](const LogField& later) { return later.key == field.key; });
}

std::string TextLine(WallTime time, LogLevel level, std::string_view message, LogFields fields) {
  std::string line = FormatRfc3339Millis(time);
  line += ' ';
  line += Names(level).text;
  line += ' ';
  AppendWord(line, message, /*allow_spaces=*/true);
  for (const LogField& field : fields) {
    if (ComesAgain(fields, field)) continue;
    line += ' ';
    AppendWord(line, field.key);
    line += '=';
    AppendValue(line, field.value,
                [](std::string& out, std::string_view text) { AppendWord(out, text); });
  }
  line += '\n';
  return line;
}

std::string JsonLine(WallTime time, LogLevel level, std::string_view message, LogFields fields) {
  std::string line = "{\"time\":\"";
  line += FormatRfc3339Millis(time);
  line += "\",\"level\":\"";
  line += Names(level).json;
  line += "\",\"msg\":";
  AppendJsonString(line, message);
  for (const LogField& field : fields) {
    if (ComesAgain(fields, field)) continue;
    line += ',';
    if (IsReserved(field.key)) {
      AppendJsonString(line, std::string(kFieldPrefix).append(field.key));
    } else {
      AppendJsonString(line, field.key);
    }
    line += ':';
    AppendValue(line, field.value, AppendJsonString);
  }
  line += "}\n";
  return line;
}

std::string FormatLine(LogFormat format, WallTime time, LogLevel level, std::string_view message,
                       LogFields fields) {
  return format == LogFormat::kJson ? JsonLine(time, level, message, fields)
                                    : TextLine(time, level, message, fields);
}

void WriteToStderr(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) line.remove_prefix(static_cast<size_t>(written));
  }
}

// Passes each line to the LogSink, after a warning about lines that were dropped before it. Only
// the pool's one thread calls it.
class ReportingSink final : public spdlog::sinks::sink {
 public:
  ReportingSink(LogFormat format, LogSink write) : format_(format), write_(std::move(write)) {}

  // Must be called before the first line is logged. The pool owns the thread that reads `pool_`.
  void SetPool(spdlog::details::thread_pool* pool) { pool_ = pool; }

  void log(const spdlog::details::log_msg& message) override {
    const size_t dropped = pool_->overrun_counter();
    if (dropped != reported_) {
      write_(FormatLine(format_, message.time, LogLevel::kWarn, "log lines dropped",
                        {{"count", dropped - reported_}}));
      reported_ = dropped;
    }
    write_(std::string_view(message.payload.data(), message.payload.size()));
  }

  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  const LogFormat format_;
  const LogSink write_;
  spdlog::details::thread_pool* pool_ = nullptr;
  size_t reported_ = 0;
};

}  // namespace

// A private pool of one thread, and the spdlog logger that feeds it. Neither is registered with
// spdlog, whose registry and default pool are global.
class Logger::Queue {
 public:
  explicit Queue(const LogOptions& options)
      : sink_(std::make_shared<ReportingSink>(
            options.format, options.sink ? options.sink : LogSink(WriteToStderr))),
        // A pool with an empty queue could not even be stopped: that takes a message.
        pool_(std::make_shared<spdlog::details::thread_pool>(
            std::max<size_t>(options.queue_lines, 1), 1)),
        logger_(std::make_shared<spdlog::async_logger>(
            "berth", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest)) {
    sink_->SetPool(pool_.get());
    logger_->set_level(spdlog::level::trace);
  }

  // Destroys the pool first. Its destructor lets the thread finish the queued lines and joins it,
  // so that the thread never has to destroy the logger or the sink.
  ~Queue() { pool_.reset(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void Push(WallTime time, std::string_view line) {
    const auto spdlog_time = std::chrono::floor<spdlog::log_clock::duration>(time);
    logger_->log(spdlog_time, spdlog::source_loc{}, spdlog::level::info,
                 spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  const std::shared_ptr<ReportingSink> sink_;
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  const std::shared_ptr<spdlog::async_logger> logger_;
};

Logger::Logger(const LogOptions& options, const Clock& clock)
    : format_(options.format),
      minimum_(options.minimum),
      clock_(clock),
      queue_(std::make_unique<Queue>(options)) {}

Logger::~Logger() = default;

void Logger::Write(LogLevel level, std::string_view message, LogFields fields) {
  const WallTime now = clock_.Now();
  queue_->Push(now, FormatLine(format_, now, level, message, fields));
}

}  // namespace berth::base
