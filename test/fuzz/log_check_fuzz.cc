// Scans logs with arbitrary contents. Reported positions lie within the log. A log that is
// truncated at the first bad record is readable and has as many records as there were before that
// one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "store/rocks/log_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::store::rocks::LogScan;
  using berth::store::rocks::ScanLog;
  constexpr size_t kSmallestRecord = 7;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const LogScan scan = ScanLog(bytes);
  fuzz::Require((scan.records + scan.records_after) * kSmallestRecord <= size);
  fuzz::Require(scan.bad_offset.has_value() == !scan.what.empty());
  if (!scan.bad_offset.has_value()) {
    fuzz::Require(scan.records_after == 0);
    return 0;
  }
  fuzz::Require(*scan.bad_offset < size);
  const LogScan cut = ScanLog(bytes.substr(0, *scan.bad_offset));
  fuzz::Require(!cut.bad_offset.has_value());
  fuzz::Require(cut.records == scan.records);
  return 0;
}
