#include "store/etcd/compactor.h"

#include <charconv>
#include <utility>

#include "store/etcd/await.h"
#include "store/etcd/explain.h"
#include "store/keys.h"

namespace berth::store::etcd {

namespace pb = etcdserverpb;

int64_t ParseCompacted(const std::string& value) {
  int64_t revision = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, revision);
  return parsed.ec == std::errc() && parsed.ptr == end && revision > 0 ? revision : 0;
}

Compactor::Compactor(const Context& context, std::function<void(Revision)> compacted)
    : context_(context),
      compacted_(std::move(compacted)),
      key_(context.layout.keys.ToEtcd(kCompactKey)) {}

void Compactor::Round() {
  pb::TxnRequest request;
  pb::Compare& compare = *request.add_compare();
  compare.set_target(pb::Compare::VERSION);
  compare.set_key(key_);
  compare.set_version(version_);
  pb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(key_);
  put.set_value(std::to_string(seen_));
  request.add_failure()->mutable_request_range()->set_key(key_);
  const auto reply = AwaitTxn(context_.client, context_.stop, std::move(request));
  if (!reply || !*reply) return;

  const pb::TxnResponse& response = **reply;
  const int64_t before = std::exchange(seen_, response.header().revision());
  if (!response.succeeded()) {
    // Another process did this round.
    if (response.responses_size() == 0) return;
    const pb::RangeResponse& range = response.responses(0).response_range();
    version_ = range.kvs_size() > 0 ? range.kvs(0).version() : 0;
    const int64_t theirs = range.kvs_size() > 0 ? ParseCompacted(range.kvs(0).value()) : 0;
    if (theirs > 0) compacted_(context_.layout.revisions.Head(theirs));
    return;
  }
  ++version_;
  if (before == 0) return;  // The first round only learns the current revision.
  pb::CompactionRequest compaction;
  compaction.set_revision(before);
  const auto done = Await<pb::CompactionResponse>(
      context_.stop, [&](auto answer) { context_.client.Compact(compaction, std::move(answer)); });
  if (!done) return;
  if (*done || IsCompacted(done->error())) {
    compacted_(context_.layout.revisions.Head(before));
  } else {
    context_.log.Warn("etcd does not compact its history",
                      {{"why", done->error().error.message}, {"revision", before}});
  }
}

}  // namespace berth::store::etcd
