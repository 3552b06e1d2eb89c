#include "store/etcd/etcd_client.h"

#include <fmt/core.h>
#include <grpcpp/security/credentials.h>

#include <future>
#include <mutex>
#include <utility>

#include "store/etcd/calls_dispatcher.h"
#include "store/etcd/calls_queue.h"
#include "store/etcd/channel.h"
#include "store/etcd/channel_pool.h"
#include "store/etcd/channel_prober.h"
#include "store/etcd/etcd_watch_stream.h"
#include "store/etcd/tls_check.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using base::Fail;
using base::Reason;
using base::Result;

class ClientImpl final : public Client {
 public:
  ClientImpl(const ClientOptions& options, std::vector<std::unique_ptr<wire::Endpoint>> endpoints,
             wire::TlsFiles files, base::Logger& log, const base::Clock& clock)
      : options_(options),
        files_(std::move(files)),
        log_(log),
        pool_(std::move(endpoints), log),
        dispatcher_({.call_timeout = options.call_timeout,
                     .user = options.user,
                     .password = options.password},
                    pool_, queue_, log),
        prober_(pool_, queue_, dispatcher_, files_, options.connect_timeout, clock),
        streams_(std::make_shared<wire::StreamSet>()) {
    dispatcher_.OnWaiting([this] { prober_.Wake(); });
    prober_.Start();
  }

  ~ClientImpl() override {
    streams_->CancelAll();
    prober_.Stop();
    dispatcher_.Close();
  }

  Result<void> Open();

  void Range(pb::RangeRequest request, Reply<pb::RangeResponse> reply) override {
    Start<pb::KV::Stub>(false, &wire::Line::kv, &pb::KV::Stub::PrepareAsyncRange,
                        std::move(request), std::move(reply));
  }
  void Txn(pb::TxnRequest request, Reply<pb::TxnResponse> reply) override {
    Start<pb::KV::Stub>(true, &wire::Line::kv, &pb::KV::Stub::PrepareAsyncTxn, std::move(request),
                        std::move(reply));
  }
  void Compact(pb::CompactionRequest request, Reply<pb::CompactionResponse> reply) override {
    Start<pb::KV::Stub>(true, &wire::Line::kv, &pb::KV::Stub::PrepareAsyncCompact,
                        std::move(request), std::move(reply));
  }
  void LeaseGrant(pb::LeaseGrantRequest request, Reply<pb::LeaseGrantResponse> reply) override {
    Start<pb::Lease::Stub>(true, &wire::Line::lease, &pb::Lease::Stub::PrepareAsyncLeaseGrant,
                           std::move(request), std::move(reply));
  }
  void LeaseRevoke(pb::LeaseRevokeRequest request, Reply<pb::LeaseRevokeResponse> reply) override {
    Start<pb::Lease::Stub>(true, &wire::Line::lease, &pb::Lease::Stub::PrepareAsyncLeaseRevoke,
                           std::move(request), std::move(reply));
  }
  void LeaseTimeToLive(pb::LeaseTimeToLiveRequest request,
                       Reply<pb::LeaseTimeToLiveResponse> reply) override {
    Start<pb::Lease::Stub>(false, &wire::Line::lease, &pb::Lease::Stub::PrepareAsyncLeaseTimeToLive,
                           std::move(request), std::move(reply));
  }
  /// A lease may be prolonged twice without harm, so this counts as a read.
  void LeaseKeepAlive(pb::LeaseKeepAliveRequest request,
                      Reply<pb::LeaseKeepAliveResponse> reply) override {
    Start<pb::Lease::Stub>(false, &wire::Line::lease, &pb::Lease::Stub::PrepareAsyncLeaseKeepAlive,
                           std::move(request), std::move(reply));
  }

  std::unique_ptr<WatchStream> Watch(pb::WatchCreateRequest request,
                                     WatchCallbacks callbacks) override {
    return std::make_unique<wire::Stream>(std::move(request), std::move(callbacks), pool_,
                                          dispatcher_, streams_, options_.call_timeout);
  }

  std::string ServerVersion() const override { return pool_.Version(); }
  bool IsReplaced() const override { return pool_.AllStrangers(); }

 private:
  template <typename Stub, typename Request, typename Response>
  void Start(bool write, Stub wire::Line::* stub,
             std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*prepare)(
                 grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
             Request request, Reply<Response> reply) {
    dispatcher_.Start(std::make_unique<wire::UnaryCall<Stub, Request, Response>>(
        dispatcher_, write, /*with_token=*/true, stub, prepare, std::move(request),
        std::move(reply)));
  }

  Result<void> CheckAnonymous();

  const ClientOptions options_;
  const wire::TlsFiles files_;
  base::Logger& log_;
  wire::Pool pool_;
  wire::CallQueue queue_;
  wire::Dispatcher dispatcher_;
  wire::Prober prober_;
  const std::shared_ptr<wire::StreamSet> streams_;
};

Result<void> ClientImpl::Open() {
  if (!pool_.AwaitFirst(std::chrono::steady_clock::now() + options_.connect_timeout)) {
    return Fail(Reason::kServiceUnavailable,
                fmt::format("cannot connect to etcd: {}", pool_.TroubleText()));
  }
  if (const std::string stranger = pool_.StrangerText(); !stranger.empty()) {
    return Fail(Reason::kInvalid, "cannot connect to etcd: " + stranger);
  }
  if (const auto note = wire::CheckVersion(pool_.Version()); !note.warning.empty()) {
    log_.Warn(note.warning, {{"version", pool_.Version()}});
  }
  return dispatcher_.HasUser() ? dispatcher_.Login() : CheckAnonymous();
}

/// Checks whether etcd requires a user although none was given. Its status alone does not show
/// that.
Result<void> ClientImpl::CheckAnonymous() {
  pb::RangeRequest request;
  request.set_key(std::string(1, '\0'));
  request.set_serializable(true);
  request.set_count_only(true);
  std::promise<Result<void>> outcome;
  Range(std::move(request), [&](const tl::expected<pb::RangeResponse, CallError>& answer) {
    const bool wanted = !answer && answer.error().text == "etcdserver: user name is empty";
    outcome.set_value(wanted ? tl::unexpected(answer.error().error) : Result<void>());
  });
  return outcome.get_future().get();
}

Result<std::vector<std::unique_ptr<wire::Endpoint>>> MakeEndpoints(const ClientOptions& options,
                                                                   const wire::TlsFiles& files) {
  if (options.endpoints.empty()) return Fail(Reason::kInvalid, "no etcd endpoint is given");
  const wire::ChannelSettings settings{.connect_timeout = options.connect_timeout,
                                       .keepalive = options.keepalive};
  std::vector<std::unique_ptr<wire::Endpoint>> endpoints;
  for (const std::string& text : options.endpoints) {
    auto url = wire::ParseEndpoint(text);
    if (!url) return tl::unexpected(url.error());
    const auto credentials = url->tls ? grpc::SslCredentials({.pem_root_certs = files.ca,
                                                              .pem_private_key = files.key,
                                                              .pem_cert_chain = files.cert})
                                      : grpc::InsecureChannelCredentials();
    endpoints.push_back(
        std::make_unique<wire::Endpoint>(std::move(*url), credentials, settings, options.channels));
  }
  return endpoints;
}

}  // namespace

Result<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options, base::Logger& log,
                                                const base::Clock& clock) {
  static std::once_flag silenced;
  std::call_once(silenced, wire::SilenceGrpcLog);
  auto files = wire::ReadTlsFiles(options, clock.Now());
  if (!files) return tl::unexpected(files.error());
  auto endpoints = MakeEndpoints(options, *files);
  if (!endpoints) return tl::unexpected(endpoints.error());
  auto client =
      std::make_unique<ClientImpl>(options, std::move(*endpoints), std::move(*files), log, clock);
  if (auto open = client->Open(); !open) return tl::unexpected(open.error());
  return client;
}

}  // namespace berth::store::etcd
