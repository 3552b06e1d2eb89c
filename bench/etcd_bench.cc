// The etcd engine beside bare loops on the generated stub that send the same writes, in turns: one
// transaction per call, and many nested in one. Usage: etcd_bench ENDPOINT ROUNDS (an empty etcd);
// prints one line of JSON per figure.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "driver.h"
#include "store/blocking.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd.grpc.pb.h"
#include "store/etcd/etcd_engine.h"

namespace berth::bench {
namespace {

namespace pb = etcdserverpb;

constexpr size_t kInFlight[] = {1, 16, 128};
constexpr size_t kGroupedInFlight = 128;
constexpr std::chrono::milliseconds kDuration{3000};

void Fill(const store::Txn& txn, pb::TxnRequest* request) {
  for (const store::Compare& compare : txn.compares) {
    pb::Compare* out = request->add_compare();
    out->set_target(pb::Compare::MOD);
    out->set_key(compare.key);
    out->set_mod_revision(0);
  }
  for (const store::Put& put : txn.puts) {
    pb::PutRequest* out = request->add_success()->mutable_request_put();
    out->set_key(put.key);
    out->set_value(put.value);
  }
}

/// The generated stub and a completion queue, polled by one thread.
class BareStub {
 public:
  explicit BareStub(const std::string& target)
      : stub_(pb::KV::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))),
        poller_([this] { Poll(); }) {}

  ~BareStub() {
    queue_.Shutdown();
    poller_.join();
  }

  void Send(pb::TxnRequest request, std::function<void(bool)> done) {
    auto* call = new Call{.request = std::move(request), .done = std::move(done)};
    call->reader = stub_->AsyncTxn(&call->context, call->request, &queue_);
    call->reader->Finish(&call->response, &call->status, call);
  }

 private:
  struct Call {
    grpc::ClientContext context{};
    pb::TxnRequest request;
    pb::TxnResponse response{};
    grpc::Status status{};
    std::unique_ptr<grpc::ClientAsyncResponseReader<pb::TxnResponse>> reader = nullptr;
    std::function<void(bool)> done;
  };

  void Poll() {
    void* tag = nullptr;
    bool fine = false;
    while (queue_.Next(&tag, &fine)) {
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      call->done(call->status.ok() && call->response.succeeded());
    }
  }

  grpc::CompletionQueue queue_;
  std::unique_ptr<pb::KV::Stub> stub_;
  std::thread poller_;
};

Figure DriveBare(BareStub& stub, size_t in_flight, uint64_t& number) {
  const auto submit = [&](const store::Txn& txn, std::function<void(bool)> done) {
    pb::TxnRequest request;
    Fill(txn, &request);
    stub.Send(std::move(request), std::move(done));
  };
  return Drive(submit, in_flight, kDuration, number);
}

/// Two etcd Txns under way, each with half of the transactions nested in it.
Figure DriveBareGrouped(BareStub& stub, size_t in_flight, uint64_t& number) {
  const size_t members = in_flight / 2;
  const auto submit = [&](const store::Txn& first, std::function<void(bool)> done) {
    pb::TxnRequest request;
    Fill(first, request.add_success()->mutable_request_txn());
    for (size_t i = 1; i < members; ++i) {
      Fill(MakeTxn(number++), request.add_success()->mutable_request_txn());
    }
    stub.Send(std::move(request), std::move(done));
  };
  Figure figure = Drive(submit, 2, kDuration, number);
  figure.per_second *= static_cast<double>(members);
  return figure;
}

Figure DriveEngine(const std::string& endpoint, const std::string& prefix, bool group,
                   size_t in_flight, uint64_t& number, base::Logger& log) {
  const base::SystemClock clock;
  store::etcd::ClientOptions client;
  client.endpoints = {endpoint};
  store::etcd::EtcdOptions options;
  options.prefix = prefix;
  options.group = group;
  // Values as they are: the slot is noted nowhere and read as 0, which costs nothing, like the bare
  // loop's.
  const store::SlotCodec slots{
      .write = [](std::string_view, std::string&, int slot) { return slot; },
      .read = [](std::string_view, std::string_view) { return 0; }};
  auto engine = store::etcd::EtcdEngine::Open(client, options, slots, log, clock);
  if (!engine) {
    fmt::print(stderr, "{}\n", engine.error().message);
    std::exit(1);
  }
  const auto commit = [&](store::Txn txn, std::function<void(bool)> done) {
    (*engine)->Commit(std::move(txn), [done = std::move(done)](const store::TxnReply& reply) {
      done(reply.outcome == store::Outcome::kCommitted);
    });
  };
  return Drive(commit, in_flight, kDuration, number);
}

void Round(const std::string& endpoint, BareStub& stub, uint64_t& number, base::Logger& log) {
  for (const size_t in_flight : kInFlight) {
    Print(fmt::format("bare/one/{}", in_flight), DriveBare(stub, in_flight, number));
    Print(fmt::format("berth/one/{}", in_flight),
          DriveEngine(endpoint, "/berth", false, in_flight, number, log));
  }
  Print(fmt::format("bare/grouped/{}", kGroupedInFlight),
        DriveBareGrouped(stub, kGroupedInFlight, number));
  Print(fmt::format("berth/grouped/{}", kGroupedInFlight),
        DriveEngine(endpoint, "/berth", true, kGroupedInFlight, number, log));
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string endpoint = argv[1];
  const berth::base::SystemClock clock;
  berth::base::Logger log({.minimum = berth::base::LogLevel::kError}, clock);
  berth::bench::BareStub stub(endpoint.substr(endpoint.find("//") + 2));
  uint64_t number = 0;
  const int rounds = std::atoi(argv[2]);
  for (int round = 0; round < rounds; ++round) {
    berth::bench::Round(endpoint, stub, number, log);
  }
}
