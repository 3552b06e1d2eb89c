// Compares the etcd engine with bare loops on the generated stub that send the same writes: one
// transaction per call, and many nested in one. They take turns. Usage: etcd_bench ENDPOINT ROUNDS
// (an empty etcd). Prints one line of JSON per figure.
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
#include "store/etcd/etcd.grpc.pb.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_engine.h"

namespace berth::bench {
namespace {

namespace pb = etcdserverpb;

constexpr size_t kInFlight[] = {1, 16, 128};
constexpr size_t kGroupedInFlight = 128;
constexpr std::chrono::milliseconds kDuration{3000};

/// The keys that every request of the engine compares (its marker and its fence), with the expected
/// revisions. The engine also puts a receipt with the writes.
struct Envelope {
  int64_t marker_mod = 0;
  int64_t fence_mod = 0;
};
constexpr const char* kMarker = "/bare/marker";
constexpr const char* kFence = "/bare/fence";

void Compare(const std::string& key, int64_t mod, pb::TxnRequest* request) {
  pb::Compare* compare = request->add_compare();
  compare->set_target(pb::Compare::MOD);
  compare->set_key(key);
  compare->set_mod_revision(mod);
  request->add_failure()->mutable_request_range()->set_key(key);
}

void Put(const std::string& key, const std::string& value, pb::TxnRequest* request) {
  pb::PutRequest* put = request->add_success()->mutable_request_put();
  put->set_key(key);
  put->set_value(value);
}

void Fill(const store::Txn& txn, pb::TxnRequest* request) {
  for (const store::Compare& compare : txn.compares) Compare(compare.key, 0, request);
  for (const store::Put& put : txn.puts) Put(put.key, put.value, request);
}

void Wrap(const Envelope& envelope, size_t lane, pb::TxnRequest* request) {
  Compare(kMarker, envelope.marker_mod, request);
  Compare(kFence, envelope.fence_mod, request);
  Put(fmt::format("/bare/fence/{}", lane), std::to_string(lane), request);
}

/// The generated stub and a completion queue that one thread polls.
class BareStub {
 public:
  explicit BareStub(const std::string& target)
      : stub_(pb::KV::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))),
        poller_([this] { Poll(); }) {}

  ~BareStub() {
    queue_.Shutdown();
    poller_.join();
  }

  /// Puts a key. Returns its mod_revision.
  int64_t PutNow(const std::string& key) {
    grpc::ClientContext context;
    pb::TxnRequest request;
    Put(key, "", &request);
    pb::TxnResponse response;
    const grpc::Status status = stub_->Txn(&context, request, &response);
    if (!status.ok()) {
      fmt::print(stderr, "{}\n", status.error_message());
      std::exit(1);
    }
    return response.header().revision();
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

/// Does what the engine does without grouping: each transaction is a Txn of its own. Without an
/// envelope it shows what safety costs.
Figure DriveBare(BareStub& stub, const Envelope* envelope, size_t in_flight, uint64_t& number) {
  size_t lane = 0;
  const auto submit = [&](const store::Txn& txn, std::function<void(bool)> done) {
    pb::TxnRequest request;
    if (envelope != nullptr) Wrap(*envelope, lane++ % in_flight, &request);
    Fill(txn, &request);
    stub.Send(std::move(request), std::move(done));
  };
  return Drive(submit, in_flight, kDuration, number);
}

/// Keeps two etcd Txns in flight, each with half of the transactions nested in it.
Figure DriveBareGrouped(BareStub& stub, const Envelope& envelope, size_t in_flight,
                        uint64_t& number) {
  const size_t members = in_flight / 2;
  size_t lane = 0;
  const auto submit = [&](const store::Txn& first, std::function<void(bool)> done) {
    pb::TxnRequest request;
    Wrap(envelope, lane++ % 2, &request);
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
  // The slot goes into the first two bytes: the values are not objects, and have room for it.
  const store::SlotCodec slots{.write =
                                   [](std::string_view, std::string& value, int slot) {
                                     value[0] = static_cast<char>(slot & 0xff);
                                     value[1] = static_cast<char>(slot >> 8);
                                     return slot;
                                   },
                               .read = [](std::string_view, std::string_view value) -> int {
                                 return static_cast<uint8_t>(value[0]) |
                                        static_cast<uint8_t>(value[1]) << 8;
                               }};
  const auto engine = OrDie(store::etcd::EtcdEngine::Open(client, options, slots, log, clock));
  const auto commit = [&](store::Txn txn, std::function<void(bool)> done) {
    engine->Commit(std::move(txn), [done = std::move(done)](const store::TxnReply& reply) {
      done(reply.outcome == store::Outcome::kCommitted);
    });
  };
  return Drive(commit, in_flight, kDuration, number);
}

void Round(const std::string& endpoint, BareStub& stub, const Envelope& envelope, uint64_t& number,
           base::Logger& log) {
  for (const size_t in_flight : kInFlight) {
    Print(fmt::format("plain/one/{}", in_flight), DriveBare(stub, nullptr, in_flight, number));
    Print(fmt::format("bare/one/{}", in_flight), DriveBare(stub, &envelope, in_flight, number));
    Print(fmt::format("berth/one/{}", in_flight),
          DriveEngine(endpoint, "/berth", false, in_flight, number, log));
  }
  Print(fmt::format("bare/grouped/{}", kGroupedInFlight),
        DriveBareGrouped(stub, envelope, kGroupedInFlight, number));
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
  const berth::bench::Envelope envelope{.marker_mod = stub.PutNow(berth::bench::kMarker),
                                        .fence_mod = stub.PutNow(berth::bench::kFence)};
  uint64_t number = 0;
  const int rounds = std::atoi(argv[2]);
  for (int round = 0; round < rounds; ++round) {
    berth::bench::Round(endpoint, stub, envelope, number, log);
  }
}
