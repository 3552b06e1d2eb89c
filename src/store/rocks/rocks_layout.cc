#include "store/rocks/rocks_layout.h"

namespace berth::store::rocks {
namespace {

void AppendVarint(std::string& out, uint64_t number) {
  while (number >= 0x80) {
    out.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  out.push_back(static_cast<char>(number));
}

std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

std::optional<Op> TakeOp(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto op = static_cast<uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  if (op != static_cast<uint8_t>(Op::kPut) && op != static_cast<uint8_t>(Op::kDelete)) {
    return std::nullopt;
  }
  return static_cast<Op>(op);
}

}  // namespace

Number EncodeNumber(uint64_t number) {
  Number bytes{};
  for (size_t i = bytes.size(); i-- > 0; number >>= 8) bytes[i] = static_cast<char>(number);
  return bytes;
}

std::optional<uint64_t> DecodeNumber(std::string_view bytes) {
  if (bytes.size() != sizeof(Number)) return std::nullopt;
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

std::optional<Revision> DecodeRevision(std::string_view bytes) {
  const auto number = DecodeNumber(bytes);
  if (!number || *number > INT64_MAX) return std::nullopt;
  return Revision{static_cast<int64_t>(*number)};
}

DataSuffix EncodeDataSuffix(Revision revision) {
  const Number inverted = EncodeNumber(~static_cast<uint64_t>(revision.value));
  DataSuffix suffix{};
  for (size_t i = 0; i < inverted.size(); ++i) suffix[i + 1] = inverted[i];
  return suffix;
}

std::string DataKey(std::string_view key, Revision revision) {
  const DataSuffix suffix = EncodeDataSuffix(revision);
  std::string out;
  out.reserve(key.size() + suffix.size());
  out.append(key).append(suffix.data(), suffix.size());
  return out;
}

std::optional<VersionName> DecodeDataKey(std::string_view bytes) {
  constexpr size_t kSuffix = sizeof(DataSuffix);
  if (bytes.size() <= kSuffix || bytes[bytes.size() - kSuffix] != '\0') return std::nullopt;
  const uint64_t inverted = *DecodeNumber(bytes.substr(bytes.size() - sizeof(Number)));
  const auto revision = static_cast<int64_t>(~inverted);
  if (revision <= 0) return std::nullopt;
  return VersionName{.key = bytes.substr(0, bytes.size() - kSuffix), .revision = {revision}};
}

void AppendVersionHead(std::string& out, Op op, int64_t deadline) {
  out.push_back(static_cast<char>(op));
  AppendVarint(out, static_cast<uint64_t>(deadline));
}

std::optional<Version> DecodeVersion(std::string_view bytes) {
  const auto op = TakeOp(bytes);
  const auto deadline = TakeVarint(bytes);
  if (!op || !deadline || *deadline > INT64_MAX) return std::nullopt;
  return Version{.op = *op, .deadline = static_cast<int64_t>(*deadline), .value = bytes};
}

void AppendLogEvent(std::string& out, const LogEvent& event) {
  out.push_back(static_cast<char>(event.op));
  AppendVarint(out, static_cast<uint64_t>(event.previous.value));
  AppendVarint(out, event.key.size());
  out.append(event.key);
}

std::optional<LogEvent> LogRecord::Take() {
  const auto op = TakeOp(rest_);
  const auto previous = TakeVarint(rest_);
  const auto length = TakeVarint(rest_);
  if (!op || !previous || *previous > INT64_MAX || !length || *length > rest_.size()) {
    return std::nullopt;
  }
  const LogEvent event{
      .op = *op, .previous = {static_cast<int64_t>(*previous)}, .key = rest_.substr(0, *length)};
  rest_.remove_prefix(*length);
  ++next_.value;
  return event;
}

std::string ExpiryKey(const Deadline& deadline) {
  std::string out(View(EncodeNumber(static_cast<uint64_t>(deadline.at))));
  return out.append(deadline.key);
}

std::optional<Deadline> DecodeExpiryKey(std::string_view bytes) {
  const auto at = DecodeNumber(bytes.substr(0, sizeof(Number)));
  if (!at || *at > INT64_MAX) return std::nullopt;
  return Deadline{.at = static_cast<int64_t>(*at), .key = bytes.substr(sizeof(Number))};
}

std::string SampleKey(int64_t time) {
  std::string out(kSamplePrefix);
  return out.append(View(EncodeNumber(static_cast<uint64_t>(time))));
}

std::string EncodeSample(const Sample& sample) {
  std::string out;
  AppendVarint(out, static_cast<uint64_t>(sample.revision.value));
  AppendVarint(out, sample.bytes);
  AppendVarint(out, sample.keys);
  return out;
}

std::optional<Sample> DecodeSample(std::string_view key, std::string_view value) {
  if (!key.starts_with(kSamplePrefix)) return std::nullopt;
  const auto time = DecodeNumber(key.substr(kSamplePrefix.size()));
  const auto revision = TakeVarint(value);
  const auto bytes = TakeVarint(value);
  const auto keys = TakeVarint(value);
  if (!time || *time > INT64_MAX || !revision || *revision > INT64_MAX || !bytes || !keys) {
    return std::nullopt;
  }
  return Sample{.time = static_cast<int64_t>(*time),
                .revision = {static_cast<int64_t>(*revision)},
                .bytes = *bytes,
                .keys = *keys};
}

}  // namespace berth::store::rocks
