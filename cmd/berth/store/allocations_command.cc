#include "berth/store/allocations_command.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "berth/client/api_target.h"
#include "berth/exit_code.h"
#include "berth/serve/allocations_path.h"
#include "berth/store/offline_switch.h"
#include "berth/store/progress.h"
#include "berth/store/report.h"
#include "berth/terminal.h"
#include "codec/json.h"
#include "codec/read.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr std::string_view kMigrateAllocations = "migrate-allocations";
constexpr std::chrono::milliseconds kAskEvery{200};
/// How many requests in a row may fail. A server may be restarted, and then continues.
constexpr int kPatience = 150;

Result<AllocationStatus> Ask(http::Client& client, const ApiTarget& target,
                             const http::ClientRequest& request) {
  const auto answer = client.Send(request);
  if (!answer) {
    return base::Fail(answer.error().reason,
                      fmt::format("the request to the server at {} failed: {}", target.url,
                                  answer.error().message));
  }
  const auto document = codec::ParseJson(answer->body);
  if (answer->code == 404) {
    return base::Fail(Reason::kServiceUnavailable,
                      fmt::format("the server at {} is not Berth, or is too old", target.url));
  }
  if (answer->code >= 300 || !document) {
    return base::Fail(
        answer->code == 401 || answer->code == 403 ? Reason::kForbidden : Reason::kConflict,
        fmt::format("the server at {} answered {}: {}", target.url, answer->code,
                    document ? codec::StringAt(*document, "message") : std::string_view()));
  }
  return FromDocument(*document);
}

/// Lets the server switch, and asks it for its progress.
Result<AllocationStatus> SwitchByServer(const AllocationsArguments& arguments,
                                        const std::string& kubeconfig, Progress& progress) {
  const auto target = FindTarget(kubeconfig);
  if (!target) return tl::unexpected(target.error());
  http::Client client(target->client);
  http::ClientRequest begin = target->Request(fmt::format(
      "{}?to={}{}", kAllocationsPath, arguments.to, arguments.force ? "&force=true" : ""));
  begin.method = "POST";
  auto status = Ask(client, *target, begin);
  int missed = 0;
  while (status && status->running) {
    if (!status->phase.empty()) {
      progress.Show(status->phase, status->done,
                    status->total == 0 ? std::nullopt : std::optional(status->total), 0);
    }
    std::this_thread::sleep_for(kAskEvery);
    auto next = Ask(client, *target, target->Request(kAllocationsPath));
    if (!next && next.error().reason != Reason::kForbidden && ++missed < kPatience) continue;
    missed = 0;
    status = std::move(next);
  }
  if (!status) return status;
  if (!status->error.empty()) return base::Fail(Reason::kConflict, status->error);
  if (status->form != arguments.to) {
    return base::Fail(Reason::kServiceUnavailable,
                      fmt::format("the server was restarted and will finish the switch by itself; "
                                  "its store now uses {}",
                                  status->form));
  }
  return status;
}

Result<AllocationStatus> SwitchDirectory(const AllocationsArguments& arguments, Tools& tools,
                                         Progress& progress) {
  auto store = OpenToChange({.directory = arguments.data_dir}, {}, tools);
  if (store) {
    return SwitchOffline(std::move(store->engine), /*shared=*/false, arguments, tools, progress);
  }
  const std::string kubeconfig = arguments.data_dir + "/admin.kubeconfig";
  std::error_code ignored;
  const bool served =
      store.error().reason == Reason::kConflict && std::filesystem::exists(kubeconfig, ignored);
  if (served) return SwitchByServer(arguments, kubeconfig, progress);
  return tl::unexpected(store.error());
}

Result<AllocationStatus> SwitchStore(const AllocationsArguments& arguments, Tools& tools,
                                     Progress& progress) {
  const auto address = ParseAddress(arguments.store);
  if (!address) {
    return base::Fail(address.error().reason, fmt::format("--store {}", address.error().message));
  }
  auto store = OpenToChange(*address, arguments.etcd, tools);
  if (!store) return tl::unexpected(store.error());
  return SwitchOffline(std::move(store->engine), !address->IsEmbedded(), arguments, tools,
                       progress);
}

std::string ReportText(const AllocationStatus& status, const std::string& to) {
  if (!status.changed) return fmt::format("Allocations are already kept as {}\n", to);
  std::string text = fmt::format("Allocations are now kept as {}\n\n{}", to,
                                 FactsText({{"Filled in", std::to_string(status.filled)},
                                            {"Removed", std::to_string(status.removed)}}));
  if (!status.left_out.empty()) {
    text += fmt::format("\nLeft out: {}\n", base::ToVisible(status.left_out));
  }
  return text;
}

}  // namespace

int RunMigrateAllocations(const AllocationsArguments& arguments) {
  const auto wrong = [](std::string message) {
    return ReportError(kMigrateAllocations,
                       {.reason = Reason::kInvalid,
                        .message = std::move(message) + "; see berth migrate-allocations --help"});
  };
  if (!ParseForm(arguments.to)) {
    return wrong(fmt::format("--to {}: must be records or bitmaps", base::GoQuoted(arguments.to)));
  }
  const int named = static_cast<int>(!arguments.kubeconfig.empty()) +
                    static_cast<int>(!arguments.data_dir.empty()) +
                    static_cast<int>(!arguments.store.empty());
  if (named != 1) {
    return wrong(
        "give one of --data-dir (a data directory), --kubeconfig (a server) and --store (a store)");
  }
  Tools tools;
  Result<AllocationStatus> status = base::Fail(Reason::kUnknown, "");
  {
    Progress progress(std::string(kMigrateAllocations), tools.clock());
    status = !arguments.kubeconfig.empty()
                 ? SwitchByServer(arguments, arguments.kubeconfig, progress)
             : !arguments.data_dir.empty() ? SwitchDirectory(arguments, tools, progress)
                                           : SwitchStore(arguments, tools, progress);
  }
  if (!status) return ReportError(kMigrateAllocations, status.error());
  return PrintOut(ReportText(*status, arguments.to)) ? kFine : kFailed;
}

}  // namespace berth::cli
