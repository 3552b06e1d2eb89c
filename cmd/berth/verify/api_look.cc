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
#include "base/random.h"
#include "berth/inspect/api_listings.h"
#include "berth/serve/allocations_path.h"
#include "codec/json.h"
#include "codec/read.h"
#include "kube/api_client.h"
#include "kube/list.h"
#include "registry/kind_rows.h"

namespace berth::cli {
namespace {

using allocation::AllocationForm;
using base::Reason;
using base::Result;
using codec::Value;

constexpr int kUnauthorizedAnswer = 401;
constexpr int kForbiddenAnswer = 403;
constexpr int kNotFoundAnswer = 404;
constexpr int kGoneAnswer = 410;
/// How often everything is read at most, if the server forgets the revision too soon.
constexpr int kMostLooks = 3;

/// Reads lists, all of them at one revision.
class ListReader {
 public:
  ListReader(const kube::Access& access, const LookProgress& progress)
      : progress_(progress), client_(access, {.random = random_}) {}

  kube::Answer<Value> Get(const std::string& path) {
    auto answer = client_.Get({.path = path});
    if (!answer) return tl::unexpected(std::move(answer.error()));
    auto document = codec::ParseJson(answer->body);
    if (document) return *std::move(document);
    return tl::unexpected(kube::Failure{
        .error = {.reason = Reason::kInternalError,
                  .message = fmt::format("the answer of the server {} to {} is not JSON",
                                         client_.Where(), path)},
        .code = answer->code});
  }

  /// Reads all objects of a kind.
  Result<void> List(const api::Kind& kind, const std::function<void(const Value&)>& each) {
    const kube::ListReceiver receiver{.object = [&](const Value& item) {
      each(item);
      ++objects_;
      if (progress_) progress_("reading", objects_);
    }};
    // What was shown to a pass cannot be taken back, so a list does not start anew by itself.
    const auto listed = kube::List(client_, kube::TargetOf(kind), receiver,
                                   {.one_revision = true, .revision = revision_, .restarts = 0});
    if (!listed) {
      return base::Fail(
          listed.error().code == kGoneAnswer ? Reason::kExpired : listed.error().error.reason,
          listed.error().error.message);
    }
    if (revision_.empty()) revision_ = listed->resource_version;
    return {};
  }

  /// Returns the revision of the lists, or 0 if the server says none.
  int64_t Revision() const {
    int64_t revision = 0;
    std::from_chars(revision_.data(), revision_.data() + revision_.size(), revision);
    return revision;
  }
  uint64_t Objects() const { return objects_; }
  /// Forgets what was read.
  void StartAnew() {
    revision_.clear();
    objects_ = 0;
  }

 private:
  const LookProgress& progress_;
  base::SeededRandom random_ = base::SeededRandom::FromKernel();
  kube::ApiClient client_;
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

/// Returns the form in which Berth keeps allocations, or nullopt if the server does not show one.
Result<std::optional<std::string>> FormOf(ListReader& reader) {
  const auto version = reader.Get("/version");
  if (!version) {
    const int code = version.error().code;
    if (code == 0 || code == kUnauthorizedAnswer) return tl::unexpected(version.error().error);
    return std::nullopt;  // A server that refuses its version may still show Services.
  }
  if (ServerKindOf(codec::StringAt(*version, "gitVersion")) != inspect::ServerKind::kBerth) {
    return std::nullopt;
  }
  const auto status = reader.Get(kAllocationsPath);
  if (status) return FromDocument(*status).form;
  if (status.error().code == kForbiddenAnswer || status.error().code == kNotFoundAnswer) {
    return std::nullopt;
  }
  return tl::unexpected(status.error().error);
}

}  // namespace

Result<std::optional<std::string>> AskForm(const kube::Access& access) {
  const LookProgress unused;
  ListReader reader(access, unused);
  return FormOf(reader);
}

std::vector<std::string> UnseenByApi(std::string_view form) {
  std::vector<std::string> unseen;
  if (form == allocation::FormText(AllocationForm::kBitmaps)) {
    unseen.emplace_back("Bitmaps");
  } else if (form != allocation::FormText(AllocationForm::kRecords)) {
    unseen.push_back(fmt::format("Records and bitmaps while the store is {}", form));
  }
  unseen.emplace_back("Stored values that cannot be decoded");
  return unseen;
}

Result<std::optional<Look>> LookAtApi(const kube::Access& access, const LookProgress& progress) {
  ListReader reader(access, progress);
  auto form = FormOf(reader);
  if (!form) return tl::unexpected(std::move(form.error()));
  if (!*form) return std::nullopt;
  Look look{.form = **std::move(form)};
  const bool records = look.form == allocation::FormText(AllocationForm::kRecords);
  look.not_checked = UnseenByApi(look.form);
  for (int looks = 1;; ++looks) {
    audit::Pass pass({.keeps = records ? audit::Keeps::kRecords : audit::Keeps::kNothing,
                      .pause = [&reader, &progress] {
                        if (progress) progress("reading", reader.Objects());
                      }});
    if (auto added = AddAll(reader, records, pass); !added) {
      if (added.error().reason != Reason::kExpired) return tl::unexpected(added.error());
      if (looks < kMostLooks) {
        reader.StartAnew();
        continue;
      }
      return base::Fail(Reason::kExpired,
                        fmt::format("{}; the server gave up history before everything was read: "
                                    "try again, or look at a snapshot",
                                    added.error().message));
    }
    look.report = std::move(pass).Finish();
    look.report.revision = reader.Revision();
    return look;
  }
}

}  // namespace berth::cli
