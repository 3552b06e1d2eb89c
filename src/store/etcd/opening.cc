#include "store/etcd/opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "store/etcd/await.h"
#include "store/etcd/compactor.h"
#include "store/etcd/explain.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

constexpr size_t kShownKeys = 3;
constexpr int kTries = 5;
constexpr size_t kMinTxnOps = 8;
constexpr size_t kMaxPrefix = 512;

const std::atomic<bool> kNeverStop = false;

/// The marker, the compaction key, and the keys of the prefix that are not Berth's own.
struct Found {
  int64_t revision = 0;  // etcd's.
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
  // A process that runs goes on putting its own keys after the prefix was wiped.
  const KeyRange all = keys.All();
  const std::string own = keys.ToEtcd(kOwnPrefix);
  for (const KeyRange& part :
       {KeyRange{all.begin, own}, KeyRange{.begin = PrefixEnd(own), .end = all.end}}) {
    pb::RangeRequest& range = *request.add_success()->mutable_request_range();
    range.set_key(part.begin);
    range.set_range_end(part.end);
    range.set_limit(static_cast<int64_t>(kShownKeys));
    range.set_keys_only(true);
  }
  const auto reply = AwaitTxn(client, kNeverStop, std::move(request));
  if (!reply || !*reply) return tl::unexpected(reply->error().error);
  const pb::TxnResponse& response = **reply;
  if (response.responses_size() != 4) {
    return base::Fail(base::Reason::kInternalError, "the server that answers is not an etcd");
  }
  Found found;
  const auto one = [&response](int i, std::optional<pb::KeyValue>& kv) {
    const pb::RangeResponse& of = response.responses(i).response_range();
    if (of.kvs_size() > 0) kv = of.kvs(0);
  };
  one(0, found.marker);
  one(1, found.compact);
  found.revision = response.header().revision();
  for (const int part : {2, 3}) {
    const pb::RangeResponse& keys_found = response.responses(part).response_range();
    found.keys += keys_found.count();
    for (const pb::KeyValue& kv : keys_found.kvs()) {
      if (found.some.size() < kShownKeys) found.some.push_back(base::ToVisible(kv.key()));
    }
  }
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

/// Puts the marker if its mod_revision is `mod`, which is 0 if it does not exist. The next look
/// sees it, whether this process or another one put it.
base::Result<void> PutMarker(Client& client, const KeyMap& keys, int64_t mod,
                             const Marker& marker) {
  pb::TxnRequest request;
  pb::Compare& compare = *request.add_compare();
  compare.set_target(pb::Compare::MOD);
  compare.set_key(keys.ToEtcd(kMarkerKey));
  compare.set_mod_revision(mod);
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

/// Returns whether the store has the past that the note says.
base::Result<Proof> Prove(Client& client, const Note& note) {
  const auto reply = AwaitRange(client, kNeverStop, WitnessRequest(note.witness));
  const Proof proof = Judge(note.witness, *reply);
  if (proof == Proof::kOpen && !IsCompacted(reply->error())) {
    return tl::unexpected(reply->error().error);
  }
  return proof;
}

/// Returns whether a new time line has to begin: revisions would go back, or the store has another
/// past than the note says, and no process has raised the base for that yet.
bool Contradicts(const Note& note, Proof proof, const Marker& marker, int64_t revision) {
  return Revisions(marker.base).Head(revision) < note.revision ||
         (marker.base == note.base && proof == Proof::kOther);
}

Revision BaseAbove(const Note& note, const Marker& marker, int64_t revision) {
  const Revision head = std::max(note.revision, Revisions(marker.base).Head(revision));
  return {head.value + kTimeLineRaise};
}

/// One try at opening. Returns nullopt if it wrote the marker, or if another process did: then the
/// caller looks again.
base::Result<std::optional<Opened>> TryOpening(Client& client, const EtcdOptions& options,
                                               base::Logger& log) {
  const KeyMap keys(options.prefix);
  const auto again = [](base::Result<void> put) -> base::Result<std::optional<Opened>> {
    if (!put) return tl::unexpected(put.error());
    return std::nullopt;
  };
  const Note* note =
      options.note && options.note->prefix == options.prefix ? &*options.note : nullptr;
  Proof proof = Proof::kOpen;
  if (note != nullptr) {
    const auto proven = Prove(client, *note);
    if (!proven) return tl::unexpected(proven.error());
    proof = *proven;
  }
  auto found = Look(client, keys);
  if (!found) return tl::unexpected(found.error());
  if (!found->marker) {
    // The keys are Berth's own if the store has the past that Berth gave it.
    if (found->keys > 0 && proof != Proof::kSame) return Foreign(options.prefix, *found);
    if (!options.create) {
      return base::Fail(base::Reason::kNotFound,
                        fmt::format("there is no store under the etcd prefix {}", options.prefix));
    }
    if (note != nullptr) log.Warn("etcd does not have the marker that it had; it is put again");
    return again(PutMarker(client, keys, 0, {.base = note ? note->base : options.base}));
  }
  auto opened = Understand(options.prefix, *found);
  if (!opened) return tl::unexpected(opened.error());
  const Marker& marker = opened->marker.marker;
  if (note == nullptr || !Contradicts(*note, proof, marker, found->revision)) {
    return std::optional(*std::move(opened));
  }
  const Revision base = BaseAbove(*note, marker, found->revision);
  if (base.value > kMaxBase) {
    return base::Fail(
        base::Reason::kInternalError,
        fmt::format("the store under the etcd prefix {} has no revisions left", options.prefix));
  }
  log.Warn(
      "etcd has another past than before: it was restored from a backup, or is another one. A "
      "new time line begins, and clients have to list again",
      {{"revisionBase", base.value}, {"before", note->revision.value}});
  return again(PutMarker(client, keys, opened->marker.mod, {.base = base}));
}

}  // namespace

base::Result<Opened> ReadOrCreateMarker(Client& client, const EtcdOptions& options,
                                        base::Logger& log) {
  for (int tries = 0; tries < kTries; ++tries) {
    auto opened = TryOpening(client, options, log);
    if (!opened) return tl::unexpected(opened.error());
    if (*opened) return **std::move(opened);
  }
  return base::Fail(base::Reason::kTimeout,
                    fmt::format("the marker under the etcd prefix {} could not be put in {} tries; "
                                "etcd does not say why",
                                options.prefix, kTries));
}

std::optional<base::Error> CheckOptions(const EtcdOptions& options) {
  const auto bad = [](std::string message) {
    return base::Error{.reason = base::Reason::kInvalid, .message = std::move(message)};
  };
  const std::string& prefix = options.prefix;
  if (prefix.size() < 2 || prefix.size() > kMaxPrefix || prefix.front() != '/' ||
      prefix.back() == '/' || prefix.find('\0') != std::string::npos) {
    return bad(fmt::format(
        "--etcd-prefix must be a path that begins with a slash and ends without one; it is {}",
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
