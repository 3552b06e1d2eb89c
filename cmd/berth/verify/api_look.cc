#include "berth/verify/api_look.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/allocation_forms.h"
#include "allocation/claims/allocation_form.h"
#include "allocation/range_facts.h"
#include "allocation/records.h"
#include "api/kinds.h"
#include "audit/pass.h"
#include "audit/read.h"
#include "berth/serve/allocations_path.h"
#include "codec/json.h"
#include "codec/read.h"
#include "http/client.h"
#include "kube/list.h"
#include "registry/kind_rows.h"

namespace berth::cli {
namespace {

using allocation::AllocationForm;
using base::Reason;
using base::Result;
using codec::Value;

constexpr int kItemsPerPage = 500;
/// A page of objects that are as large as the server accepts.
constexpr size_t kMaxPageBytes = size_t{1} << 30;

http::ClientOptions WithLargePages(http::ClientOptions options) {
  options.body_limit = kMaxPageBytes;
  return options;
}

/// Reads lists, all of them at one revision.
class ListReader {
 public:
  ListReader(const ApiTarget& target, const LookProgress& progress)
      : target_(target), progress_(progress), client_(WithLargePages(target.client)) {}

  Result<Value> Get(const std::string& path) {
    http::ClientRequest request = target_.Request(path);
    request.headers.Add("Accept", "application/json");
    const auto answer = client_.Send(request);
    if (!answer) {
      return base::Fail(answer.error().reason,
                        fmt::format("the request to the server at {} failed: {}", target_.url,
                                    answer.error().message));
    }
    auto document = codec::ParseJson(answer->body, {.bytes = kMaxPageBytes});
    if (answer->code == 404) {
      return base::Fail(Reason::kNotFound,
                        fmt::format("the server at {} is not Berth, or is too old", target_.url));
    }
    if (answer->code != 200 || !document) {
      return base::Fail(
          answer->code == 410   ? Reason::kExpired
          : answer->code == 403 ? Reason::kForbidden
                                : Reason::kServiceUnavailable,
          fmt::format("the server at {} answered {}: {}", target_.url, answer->code,
                      document ? codec::StringAt(*document, "message") : std::string_view()));
    }
    return *std::move(document);
  }

  /// Reads all objects of a kind.
  Result<void> List(const api::Kind& kind, const std::function<void(const Value&)>& each) {
    std::string more;
    do {
      std::string path = fmt::format("{}?limit={}", kube::TargetOf(kind).path, kItemsPerPage);
      if (!more.empty()) {
        path += "&continue=" + kube::QueryEscaped(more);
      } else if (!revision_.empty()) {
        path += fmt::format("&resourceVersion={}&resourceVersionMatch=Exact", revision_);
      }
      const auto page = Get(path);
      if (!page) return tl::unexpected(page.error());
      if (revision_.empty()) revision_ = codec::StringAt(*page, "metadata", "resourceVersion");
      for (const Value& item : codec::ArrayAt(*page, "items")) {
        each(item);
        ++objects_;
      }
      if (progress_) progress_("reading", objects_);
      more = codec::StringAt(*page, "metadata", "continue");
    } while (!more.empty());
    return {};
  }

  /// Returns the revision of the lists, or 0 if the server says none.
  int64_t Revision() const {
    int64_t revision = 0;
    std::from_chars(revision_.data(), revision_.data() + revision_.size(), revision);
    return revision;
  }
  uint64_t Objects() const { return objects_; }

 private:
  const ApiTarget& target_;
  const LookProgress& progress_;
  http::Client client_;
  std::string revision_;
  uint64_t objects_ = 0;
};

/// Lists the ranges of a kind.
Result<void> AddRanges(ListReader& reader, const registry::Row& row, audit::Pass& pass) {
  return reader.List(*row.kind, [&](const Value& item) {
    audit::RangeObjectFacts facts = audit::ReadRange(allocation::RangeKindOf(row), item);
    facts.key = row.prefix + facts.object.name;
    pass.AddRange(facts);
  });
}

Result<void> AddRecords(ListReader& reader, const api::Kind& kind,
                        std::optional<audit::RecordFacts> (*read)(const Value&),
                        audit::Pass& pass) {
  return reader.List(kind, [&](const Value& item) {
    if (const auto facts = read(item)) pass.AddRecord(*facts);
  });
}

/// Shows everything to the pass. Services come first, because that needs least memory.
Result<void> AddAll(ListReader& reader, bool records, audit::Pass& pass) {
  auto services = reader.List(
      api::kServiceKind, [&pass](const Value& item) { pass.AddService(audit::ReadService(item)); });
  if (!services) return services;
  const registry::Kinds kinds;
  const allocation::RecordRows rows = allocation::RecordRowsOf(kinds);
  for (const registry::Row* row : {rows.ip_ranges, rows.service_cidrs, rows.node_port_ranges}) {
    if (auto added = AddRanges(reader, *row, pass); !added) return added;
  }
  if (!records) return {};
  if (auto added =
          AddRecords(reader, api::kAllocatedAddressKind, audit::ReadAllocatedAddress, pass);
      !added) {
    return added;
  }
  return AddRecords(reader, api::kNodePortKind, audit::ReadNodePort, pass);
}

/// Returns what the API does not show.
std::vector<std::string> Unseen(std::string_view form, bool records) {
  std::vector<std::string> unseen;
  if (form == allocation::FormText(AllocationForm::kBitmaps)) {
    unseen.emplace_back("Bitmaps");
  } else if (!records) {
    unseen.push_back(fmt::format("Records and bitmaps while the store is {}", form));
  }
  unseen.emplace_back("Stored values that cannot be decoded");
  return unseen;
}

}  // namespace

Result<Look> LookAtApi(const ApiTarget& target, const LookProgress& progress) {
  ListReader reader(target, progress);
  const auto status = reader.Get(kAllocationsPath);
  if (!status) return tl::unexpected(status.error());
  Look look{.form = FromDocument(*status).form};
  const bool records = look.form == allocation::FormText(AllocationForm::kRecords);
  look.not_checked = Unseen(look.form, records);
  audit::Pass pass({.keeps = records ? audit::Keeps::kRecords : audit::Keeps::kNothing,
                    .pause = [&reader, &progress] {
                      if (progress) progress("reading", reader.Objects());
                    }});
  if (auto added = AddAll(reader, records, pass); !added) {
    if (added.error().reason != Reason::kExpired) return tl::unexpected(added.error());
    return base::Fail(Reason::kExpired,
                      fmt::format("{}; the server gave up history before everything was read: try "
                                  "again, or look at a snapshot",
                                  added.error().message));
  }
  look.report = std::move(pass).Finish();
  look.report.revision = reader.Revision();
  return look;
}

}  // namespace berth::cli
