// The answers of a history and of an observer as JSON documents, for the paths of `berth observe`
// and for other commands. Pure, apart from OpenHistoryReader.
#pragma once

#include <string>
#include <string_view>

#include "alloc/pool_id.h"
#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "history/history_reader.h"
#include "observe/observer.h"

namespace berth::cli {

/// Returns the folder of the history in a data directory of `berth observe`.
std::string HistoryDirectory(const std::string& data_dir);
/// Opens the history that `berth observe --data-dir` records, also while it does so.
base::Result<history::HistoryReader> OpenHistoryReader(const std::string& data_dir);

/// Parses an address or a port, in any form that inspect::ReadValue reads. The error names the
/// text.
base::Result<alloc::PoolValue> ParseHeldValue(std::string_view text);

codec::Value ToDocument(const alloc::PoolValue& value, base::WallTime at,
                        const history::HeldAt& held);
/// Returns the same for a Service.
codec::Value ServiceDocumentAt(std::string_view service, base::WallTime at,
                               const history::HeldAt& held);
codec::Value ToDocument(const history::Past& past);
codec::Value ToDocument(const std::vector<history::UsePoint>& points);
codec::Value ToDocument(const observe::Figures& figures);

}  // namespace berth::cli
