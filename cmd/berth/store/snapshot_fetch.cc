#include "berth/store/snapshot_fetch.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "berth/serve/snapshot_path.h"
#include "codec/json.h"
#include "codec/read.h"
#include "store/part_file.h"

namespace berth::cli {
namespace {

using base::Reason;

/// Turns the answer of a server that did not send a snapshot into an error.
tl::unexpected<base::Error> Refused(const ApiTarget& target, const http::ClientResponse& answer) {
  const auto status = codec::ParseJson(answer.body);
  const std::string_view said = status ? codec::StringAt(*status, "message") : std::string_view();
  if (answer.code == 404) {
    return base::Fail(
        Reason::kServiceUnavailable,
        fmt::format("the server at {} is not Berth, or is too old to send snapshots", target.url));
  }
  return base::Fail(
      answer.code == 401 || answer.code == 403 ? Reason::kForbidden : Reason::kServiceUnavailable,
      fmt::format("the server at {} answered {}: {}", target.url, answer.code, said));
}

}  // namespace

base::Result<store::SnapshotFileInfo> FetchSnapshot(const ApiTarget& target,
                                                    const std::string& file,
                                                    const std::function<void(uint64_t)>& progress) {
  auto part = store::PartFile::Create(file);
  if (!part) return tl::unexpected(std::move(part.error()));
  http::Client client(target.client);
  base::Result<void> written;
  uint64_t received = 0;
  const auto answer = client.Send(target.Request(kSnapshotPath),
                                  [&](const http::ClientResponse&, std::string_view bytes) {
                                    written = (*part)->Write(bytes);
                                    progress(received += bytes.size());
                                    return written.has_value();
                                  });
  if (!written) return tl::unexpected(std::move(written.error()));
  if (!answer) {
    return base::Fail(answer.error().reason, fmt::format("cannot get a snapshot from {}: {}",
                                                         target.url, answer.error().message));
  }
  if (answer->code != 200) return Refused(target, *answer);
  auto info = store::ReadSnapshotFile((*part)->PartPath(), {});
  if (!info) {
    return base::Fail(
        Reason::kServiceUnavailable,
        fmt::format("{} did not send a complete snapshot: {}", target.url, info.error().message));
  }
  if (auto finished = (*part)->Finish(); !finished) {
    return tl::unexpected(std::move(finished.error()));
  }
  return info;
}

}  // namespace berth::cli
