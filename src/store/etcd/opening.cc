#include "store/etcd/opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "store/etcd/await.h"
#include "store/etcd/compactor.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

constexpr int64_t kShownKeys = 3;
constexpr int kTries = 5;
constexpr size_t kMinTxnOps = 8;
constexpr size_t kMaxPrefix = 512;

const std::atomic<bool> kNeverStop = false;

/// The marker, the compaction key, and what else there is.
struct Found {
  std::optional<pb::KeyValue> marker;
  std::optional<pb::KeyValue> compact;
  int64_t keys = 0;
  std::vector<std::string> some;
};

base::Result<Found> Look(Client& client, const KeyMap& keys) {
  pb::TxnRequest request;
  for (const std::string_view key : {kMarkerKey, kCompactKey}) {
    request.add_success()->mutable_request_range()->set_key(keys.ToEtcd(key));
  }
  const KeyRange all = keys.All();
  pb::RangeRequest& range = *request.add_success()->mutable_request_range();
  range.set_key(all.begin);
  range.set_range_end(all.end);
  range.set_limit(kShownKeys);
  range.set_keys_only(true);
  const auto reply = AwaitTxn(client, kNeverStop, std::move(request));
  if (!reply || !*reply) return tl::unexpected(reply->error().error);
  const pb::TxnResponse& response = **reply;
  if (response.responses_size() != 3) {
    return base::Fail(base::Reason::kInternalError, "what answers is not an etcd");
  }
  Found found;
  const auto one = [&response](int i, std::optional<pb::KeyValue>& kv) {
    const pb::RangeResponse& of = response.responses(i).response_range();
    if (of.kvs_size() > 0) kv = of.kvs(0);
  };
  one(0, found.marker);
  one(1, found.compact);
  const pb::RangeResponse& rest = response.responses(2).response_range();
  found.keys = rest.count();
  for (const pb::KeyValue& kv : rest.kvs()) found.some.push_back(base::ToVisible(kv.key()));
  return found;
}

tl::unexpected<base::Error> Foreign(const std::string& prefix, const Found& found) {
  return base::Fail(
      base::Reason::kForbidden,
      fmt::format(
          "the etcd prefix {} holds {} {} but no marker of Berth's ({}), so it is somebody "
          "else's, a kube-apiserver's for example: {}{}. Choose another --etcd-prefix or an "
          "empty etcd",
          prefix, found.keys, found.keys == 1 ? "key" : "keys", KeyMap(prefix).ToEtcd(kMarkerKey),
          fmt::join(found.some, ", "),
          found.keys > static_cast<int64_t>(found.some.size()) ? " and others" : ""));
}

/// Puts the marker if there is none. Whether it did so or somebody else, the next look sees it.
base::Result<void> Create(Client& client, const KeyMap& keys, const Marker& marker) {
  pb::TxnRequest request;
  pb::Compare& compare = *request.add_compare();
  compare.set_target(pb::Compare::MOD);
  compare.set_key(keys.ToEtcd(kMarkerKey));
  compare.set_mod_revision(0);
  pb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(keys.ToEtcd(kMarkerKey));
  put.set_value(MarkerText(marker));
  const auto reply = AwaitTxn(client, kNeverStop, std::move(request));
  if (reply && !*reply && !reply->error().ambiguous) return tl::unexpected(reply->error().error);
  return {};
}

base::Result<Opened> Understand(const std::string& prefix, const Found& found) {
  const auto marker = ParseMarker(found.marker->value());
  if (!marker) {
    return base::Fail(
        base::Reason::kForbidden,
        fmt::format("this Berth cannot use the store under the etcd prefix {}: of its "
                    "marker {}, {}",
                    prefix, base::ToVisible(found.marker->key()), marker.error().message));
  }
  Opened opened{.marker = {.marker = *marker,
                           .mod = found.marker->mod_revision(),
                           .created = found.marker->create_revision()}};
  if (found.compact) opened.compacted = ParseCompacted(found.compact->value());
  return opened;
}

}  // namespace

base::Result<Opened> ReadOrCreateMarker(Client& client, const EtcdOptions& options) {
  const KeyMap keys(options.prefix);
  for (int tries = 0; tries < kTries; ++tries) {
    auto found = Look(client, keys);
    if (!found) return tl::unexpected(found.error());
    if (found->marker) return Understand(options.prefix, *found);
    if (found->keys > 0) return Foreign(options.prefix, *found);
    if (!options.create) {
      return base::Fail(base::Reason::kNotFound,
                        fmt::format("there is no store under the etcd prefix {}", options.prefix));
    }
    if (auto created = Create(client, keys, {.base = options.base}); !created) {
      return tl::unexpected(created.error());
    }
  }
  return base::Fail(base::Reason::kTimeout,
                    fmt::format("the marker under the etcd prefix {} could not be created in {} "
                                "tries; etcd does not say why",
                                options.prefix, kTries));
}

std::optional<base::Error> CheckOptions(const EtcdOptions& options) {
  const auto bad = [](std::string message) {
    return base::Error{.reason = base::Reason::kInvalid, .message = std::move(message)};
  };
  const std::string& prefix = options.prefix;
  if (prefix.size() < 2 || prefix.size() > kMaxPrefix || prefix.front() != '/' ||
      prefix.back() == '/' || prefix.find('\0') != std::string::npos) {
    return bad(
        fmt::format("--etcd-prefix must begin with a slash, go on, and not end with one; it is {}",
                    base::GoQuoted(prefix)));
  }
  if (options.max_txn_ops < kMinTxnOps) {
    return bad(fmt::format("--etcd-max-txn-ops must be at least {}, it is {}", kMinTxnOps,
                           options.max_txn_ops));
  }
  if (options.max_in_flight < 1 || options.max_in_flight_ungrouped < 1) {
    return bad("at least one etcd transaction must be allowed to be under way");
  }
  if (options.base.value < 0) return bad("a revision base must not be negative");
  return std::nullopt;
}

}  // namespace berth::store::etcd
