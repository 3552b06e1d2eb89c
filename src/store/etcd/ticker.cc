#include "store/etcd/ticker.h"

#include "store/etcd/await.h"
#include "store/keys.h"

namespace berth::store::etcd {

namespace pb = etcdserverpb;

pb::TxnRequest TickRequest(const Context& context) {
  pb::TxnRequest request;
  pb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(context.layout.keys.ToEtcd(kTickKey));
  put.set_value(context.time_line.Stamp());
  return request;
}

Ticker::Ticker(const Context& context) : context_(context) {}

void Ticker::Request() {
  {
    base::MutexLock lock(mutex_);
    again_ = under_way_;
    if (under_way_) return;
    under_way_ = true;
  }
  Send();
}

void Ticker::Send() {
  if (context_.stop || context_.status.WriteStop()) {
    base::MutexLock lock(mutex_);
    under_way_ = false;
    return;
  }
  const int64_t seen = context_.status.Seen();
  context_.client.Txn(TickRequest(context_), [this, seen](CallResult<pb::TxnResponse> r) {
    if (r && context_.status.Check(r->header(), seen)) {
      context_.status.Fine(Status::Area::kWrites);
    }
    Sent();
  });
}

void Ticker::Sent() {
  {
    base::MutexLock lock(mutex_);
    under_way_ = std::exchange(again_, false);
    if (!under_way_) return;
  }
  Send();
}

}  // namespace berth::store::etcd
