#include "kube/list.h"

#include <fmt/format.h>

#include <utility>

#include "codec/list_read.h"
#include "codec/protobuf.h"

namespace berth::kube {
namespace {

constexpr int kGoneCode = 410;

class Lister {
 public:
  Lister(ApiClient& client, const ListTarget& target, const ListReceiver& receiver,
         const ListOptions& options)
      : client_(client), target_(target), receiver_(receiver), options_(options) {}

  Answer<Listed> Run() {
    for (;;) {
      auto page = GetPage();
      if (!page) {
        if (!GoOnAfter(page.error())) return tl::unexpected(std::move(page.error()));
        continue;
      }
      listed_.resource_version = page->resource_version;
      token_ = std::move(page->continue_token);
      if (token_.empty()) return listed_;
    }
  }

 private:
  /// Tells the receiver that a list begins, when its first page is there.
  void BeginIfFirst() {
    if (std::exchange(begun_, true) || !receiver_.begin) return;
    receiver_.begin();
  }

  std::string Path() const {
    std::string path = target_.path;
    char separator = '?';
    const auto add = [&](const std::string& text) {
      path += std::exchange(separator, '&');
      path += text;
    };
    if (!target_.query.empty()) add(target_.query);
    // The last attempt is without pages.
    if (restarts_ == 0 || restarts_ < options_.restarts) {
      add(fmt::format("limit={}", options_.page_size));
    }
    if (!token_.empty()) {
      add("continue=" + QueryEscaped(token_));
    } else if (!options_.revision.empty()) {
      add(fmt::format("resourceVersion={}&resourceVersionMatch=Exact",
                      QueryEscaped(options_.revision)));
    }
    return path;
  }

  Answer<codec::ListHead> GetPage() {
    const bool protobuf = options_.protobuf && target_.message != nullptr;
    const auto page =
        client_.Get({.path = Path(),
                     .accept = protobuf ? "application/vnd.kubernetes.protobuf,application/json"
                                        : "application/json"});
    if (!page) return tl::unexpected(page.error());
    BeginIfFirst();
    const codec::EachItem each = [this](codec::Value object) {
      ++listed_.objects;
      receiver_.object(std::move(object));
    };
    listed_.protobuf = protobuf && page->body.starts_with(codec::kProtobufMagic);
    auto head = listed_.protobuf ? codec::ReadProtobufList(page->body, *target_.message, each)
                                 : codec::ReadJsonList(page->body, target_.message, each);
    if (head) return *std::move(head);
    return tl::unexpected(Failure{
        .error = {.reason = base::Reason::kInternalError,
                  .message = fmt::format("the answer of the server {} to {} cannot be read: {}",
                                         client_.Where(), target_.path, head.error().message)},
        .code = page->code});
  }

  /// Prepares another attempt if the server has forgotten the revision of the list. Returns whether
  /// there is one.
  bool GoOnAfter(const Failure& failure) {
    if (failure.code != kGoneCode || token_.empty()) return false;
    if (!options_.one_revision && !failure.continue_token.empty() &&
        failure.continue_token != token_) {
      token_ = failure.continue_token;
      listed_.one_revision = false;
      return true;
    }
    if (restarts_ == options_.restarts) return false;
    ++restarts_;
    listed_ = {};
    token_.clear();
    begun_ = false;
    return true;
  }

  ApiClient& client_;
  const ListTarget& target_;
  const ListReceiver& receiver_;
  const ListOptions& options_;
  Listed listed_;
  std::string token_;
  int restarts_ = 0;
  bool begun_ = false;
};

}  // namespace

ListTarget TargetOf(const api::Kind& kind, std::string_view name_space) {
  std::string path = kind.group.empty() ? fmt::format("/api/{}/", kind.version)
                                        : fmt::format("/apis/{}/{}/", kind.group, kind.version);
  if (!name_space.empty()) path += fmt::format("namespaces/{}/", QueryEscaped(name_space));
  path += kind.plural;
  return {.path = std::move(path), .message = kind.message};
}

std::string QueryEscaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Answer<Listed> List(ApiClient& client, const ListTarget& target, const ListReceiver& receiver,
                    const ListOptions& options) {
  return Lister(client, target, receiver, options).Run();
}

}  // namespace berth::kube
