#include "berth/inspect/api_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "base/mutex.h"
#include "base/random.h"
#include "berth/inspect/record_owners.h"
#include "codec/json.h"
#include "codec/read.h"
#include "inspect/server_flags.h"
#include "kube/api_client.h"
#include "kube/list.h"

namespace berth::cli {
namespace {

using base::Result;
using codec::Value;
using inspect::ClusterReader;

constexpr int kForbidden = 403;
constexpr uint64_t kPerProgress = 500;  // Objects.
constexpr int kNotFoundCode = 404;

constexpr std::string_view kFlagzType = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz";

/// Returns how people name the kind in rights: "ipaddresses.networking.k8s.io".
std::string ResourceOf(const api::Kind& kind) {
  return kind.group.empty() ? std::string(kind.plural)
                            : fmt::format("{}.{}", kind.plural, kind.group);
}

bool IsOfRanges(const api::Kind& kind) {
  return &kind == &api::kServiceCidrKind || &kind == &api::kIpRangeKind ||
         &kind == &api::kNodePortRangeKind;
}

constexpr std::string_view kReaderYaml =
    "deploy/reader.yaml has all rights that this program needs";

/// A place that may know the flags of the API server.
struct FlagPlace {
  const char* path;
  std::string_view accept;
  inspect::ServerFlags (*read)(const Value&);
  const char* source;
  const char* right;  // That reading it needs.
};

constexpr std::string_view kJsonType = "application/json";
constexpr const char* kPodsSource = "the arguments of the API server's Pods";
constexpr const char* kPodsRight = "list on pods in kube-system";

/// The most exact one first. API server Pods have the first label with kubeadm, the other with
/// kops.
constexpr std::array<FlagPlace, 4> kFlagPlaces = {{
    {.path = "/flagz",
     .accept = kFlagzType,
     .read = inspect::ReadFlagz,
     .source = "/flagz of the API server that answered",
     .right = "get on /flagz"},
    {.path = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
     .accept = kJsonType,
     .read = inspect::ReadKubeadmConfig,
     .source = "ConfigMap kube-system/kubeadm-config",
     .right = "get on the ConfigMap kubeadm-config in kube-system"},
    {.path = "/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-apiserver",
     .accept = kJsonType,
     .read = inspect::ReadServerPods,
     .source = kPodsSource,
     .right = kPodsRight},
    {.path = "/api/v1/namespaces/kube-system/pods?labelSelector=k8s-app%3Dkube-apiserver",
     .accept = kJsonType,
     .read = inspect::ReadServerPods,
     .source = kPodsSource,
     .right = kPodsRight},
}};

class ApiSource {
 public:
  ApiSource(const kube::Access& access, const ApiReading& reading, ClusterReader& reader)
      : access_(access),
        reading_(reading),
        reader_(reader),
        client_(access, {.random = random_, .stop = reading.stop}) {}

  Result<void> Read() {
    if (auto version = ReadVersion(); !version) return version;
    if (auto read = ReadAll(); !read) return WhetherReady(read.error());
    return forbidden_ ? WhetherReady(std::nullopt) : Result<void>();
  }

 private:
  Result<void> ReadAll() {
    const bool berth = reader_.view().server == inspect::ServerKind::kBerth;
    const std::vector<Listing> others = OtherListings(reader_.view().server);
    // Services are the longest list by far, so the others are read beside it.
    std::thread beside([&] {
      auto random = base::SeededRandom::FromKernel();
      kube::ApiClient client(access_, {.random = random, .stop = reading_.stop});
      for (const Listing& listing : others) ListOptional(client, listing);
    });
    const auto services = List(client_, ServiceListing());
    beside.join();
    if (!services) {
      if (auto read = ReadWithoutServices(services.error()); !read) return read;
    }
    if (!berth) {
      reader_.view().keeps =
          addresses_seen_ ? audit::Keeps::kAddressesOnly : audit::Keeps::kNothing;
    } else {
      reader_.view().keeps = audit::Keeps::kRecords;
    }
    if (reading_.find_port_range && !berth) FindFlags();
    return {};
  }

  /// A server that starts knows no roles at first and refuses everything. Fails if that may be why
  /// something was forbidden, and otherwise with `error` if there is one.
  Result<void> WhetherReady(const std::optional<base::Error>& error) {
    if (forbidden_) {
      const auto ready = client_.Get({.path = "/readyz"});
      if (!ready && ready.error().code / 100 == 5) {
        return base::Fail(base::Reason::kServiceUnavailable,
                          fmt::format("the server {} is not ready yet", client_.Where()));
      }
    }
    return error ? Result<void>(tl::unexpected(*error)) : Result<void>();
  }

  Result<void> ReadVersion() {
    inspect::Cluster& view = reader_.view();
    view.source = access_.url;
    const auto version = GetDocument("/version");
    if (!version) {
      // A server that refuses its version may still show Services.
      if (version.error().code != 0) return {};
      return tl::unexpected(version.error().error);
    }
    view.version = codec::StringAt(*version, "gitVersion");
    view.server = ServerKindOf(view.version);
    return {};
  }

  kube::Answer<Value> GetDocument(std::string_view path,
                                  std::string_view accept = "application/json") {
    auto answer = client_.Get({.path = std::string(path), .accept = std::string(accept)});
    if (!answer) return tl::unexpected(answer.error());
    auto document = codec::ParseJson(answer->body);
    if (document) return *std::move(document);
    return tl::unexpected(kube::Failure{
        .error = {.reason = base::Reason::kInternalError,
                  .message = fmt::format("{}: {} is not JSON", client_.Where(), path)},
        .code = answer->code});
  }

  /// Lists a kind in one namespace or, if that is empty, in all of them.
  kube::Answer<kube::Listed> List(kube::ApiClient& client, const Listing& listing,
                                  std::string_view name_space = {}) {
    if (reading_.outline_only && !IsOfRanges(*listing.kind)) {
      const auto one = client.Get({.path = kube::TargetOf(*listing.kind).path + "?limit=1"});
      if (!one) return tl::unexpected(one.error());
      return kube::Listed{};
    }
    // A list may have to start anew, so its objects join the others when it is complete.
    ClusterReader part({});
    uint64_t count = 0;
    const kube::ListReceiver receiver = {.begin = [&part] { part = ClusterReader({}); },
                                         .object =
                                             [&](Value object) {
                                               listing.add(part, object);
                                               if (++count % kPerProgress == 0) ShowProgress();
                                             }};
    auto listed = kube::List(client, kube::TargetOf(*listing.kind, name_space), receiver);
    if (listed) {
      const base::MutexLock lock(mutex_);
      reader_.Take(std::move(part));
    }
    return listed;
  }

  /// Goes on without the list of all Services, if the user may not read it: with the Services of
  /// the context's namespace, and with those that records name. Fails if there are neither.
  Result<void> ReadWithoutServices(const kube::Failure& failure) {
    if (failure.code != kForbidden) return tl::unexpected(failure.error);
    forbidden_ = true;
    const std::string advice = fmt::format("allow list and watch on services ({})", kReaderYaml);
    const bool may = reading_.some_services;
    const bool some = may && List(client_, ServiceListing(), access_.name_space).has_value();
    const size_t owners = may ? AddOwnersOfRecords(reader_.view()) : 0;
    if (!some && owners == 0) {
      return base::Fail(failure.error.reason, fmt::format("{}; {}", failure.error.message, advice));
    }
    reader_.view().some_services = true;
    std::string what = failure.error.message + ", so ";
    what += some ? fmt::format("Services are those of namespace {}", access_.name_space)
                 : std::string("Services are");
    what += owners > 0 ? fmt::format(
                             "{}those that the records of addresses name, and node ports of "
                             "all others look free",
                             some ? " and " : " ")
                       : std::string(", and values of all others look free");
    reader_.AddGap({.what = std::move(what), .advice = advice});
    return {};
  }

  void ShowProgress() {
    const base::MutexLock lock(mutex_);
    objects_ += kPerProgress;
    if (reading_.progress) reading_.progress(objects_);
  }

  /// Lists a kind that the cluster may not have, or that the user may not see.
  void ListOptional(kube::ApiClient& client, const Listing& listing) {
    const auto listed = List(client, listing);
    const base::MutexLock lock(mutex_);
    if (listed) {
      if (listing.kind == &api::kIpAddressKind) addresses_seen_ = true;
      if (reading_.readable != nullptr) reading_.readable->push_back(listing);
      return;
    }
    const int code = listed.error().code;
    if (reading_.outline_only && code != kNotFoundCode && code != kForbidden) {
      // A passing trouble of the server. It will show them to a follower.
      if (listing.kind == &api::kIpAddressKind) addresses_seen_ = true;
      if (reading_.readable != nullptr) reading_.readable->push_back(listing);
      return;
    }
    const std::string resource = ResourceOf(*listing.kind);
    if (code == kNotFoundCode) {
      reader_.AddGap({.what = fmt::format("the server has no {}, so {}", resource,
                                          listing.kind == &api::kServiceCidrKind
                                              ? "the ranges of addresses are not known exactly"
                                              : "reserved and leaked addresses cannot be seen"),
                      .advice = "they exist since Kubernetes 1.33"});
    } else if (code == kForbidden) {
      forbidden_ = true;
      reader_.AddGap(
          {.what = listed.error().error.message,
           .advice = fmt::format("allow list and watch on {} ({})", resource, kReaderYaml)});
    } else {
      reader_.AddGap({.what = listed.error().error.message, .advice = ""});
    }
  }

  /// Asks the places that may know the flags of the API server, the most exact one first.
  void FindFlags() {
    std::vector<std::string> rights;  // Those that are missing.
    bool has_flagz = true;
    for (const FlagPlace& place : kFlagPlaces) {
      const auto document = GetDocument(place.path, place.accept);
      if (!document) {
        if (document.error().code == kForbidden) AddOnce(rights, place.right);
        if (document.error().code == kNotFoundCode && &place == &kFlagPlaces[0]) has_flagz = false;
        continue;
      }
      const inspect::ServerFlags flags = place.read(*document);
      const bool has_ports = UsePorts(flags, place.source);
      UseCidrs(flags, place.source);
      if (has_ports) return;
    }
    const std::string_view what =
        !rights.empty() ? "no place that the user may read names the range of node ports"
        : has_flagz     ? "no place names the range of node ports"
                        : "the server has no /flagz (it came with Kubernetes 1.36), and no other "
                          "place names the range of node ports";
    reader_.AddGap({.what = std::string(what), .advice = AdviceForPorts(rights)});
  }

  static void AddOnce(std::vector<std::string>& texts, const char* text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.emplace_back(text);
  }

  static std::string AdviceForPorts(const std::vector<std::string>& rights) {
    std::string advice = "give --node-port-range";
    if (!rights.empty()) {
      advice += fmt::format(", or allow {} ({})", fmt::join(rights, ", "), kReaderYaml);
    }
    return advice;
  }

  bool UsePorts(const inspect::ServerFlags& flags, std::string_view source) {
    if (flags.default_ports) {
      return reader_
          .AddGivenRange(inspect::kDefaultPortRange,
                         fmt::format("Kubernetes' default, which {} do not change", source), true)
          .has_value();
    }
    return !flags.node_port_range.empty() &&
           reader_.AddGivenRange(flags.node_port_range, source, true).has_value();
  }

  /// Uses the CIDRs only if the server has no ServiceCIDRs.
  void UseCidrs(const inspect::ServerFlags& flags, std::string_view source) {
    for (const inspect::Range& range : reader_.view().ranges) {
      if (range.facts.range.kind == alloc::RangeKind::kServiceCidr) return;
    }
    for (const std::string& cidr : flags.service_cidrs) {
      static_cast<void>(reader_.AddGivenRange(cidr, source, true));
    }
  }

  const kube::Access& access_;
  const ApiReading& reading_;
  ClusterReader& reader_;
  base::SeededRandom random_ = base::SeededRandom::FromKernel();
  kube::ApiClient client_;
  base::Mutex mutex_;  // Guards the reader while two lists are read at the same time.
  uint64_t objects_ = 0;
  bool addresses_seen_ = false;
  bool forbidden_ = false;  // A list was refused.
};

}  // namespace

Result<void> ReadClusterApi(const kube::Access& access, const ApiReading& reading,
                            ClusterReader& reader) {
  return ApiSource(access, reading, reader).Read();
}

}  // namespace berth::cli
