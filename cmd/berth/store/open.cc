#include "berth/store/open.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/program_name.h"
#include "berth/terminal.h"
#include "codec/slot.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_engine.h"
#include "store/etcd/etcd_read_only.h"
#include "store/rocks/rocks_engine.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr size_t kMaxPasswordBytes = 4096;

Result<std::string> ReadPassword(const EtcdArguments& etcd) {
  if (etcd.password_file.empty()) {
    const char* set = std::getenv("BERTH_ETCD_PASSWORD");
    if (set != nullptr) return std::string(set);
    return base::Fail(Reason::kInvalid,
                      "--etcd-user needs a password: use --etcd-password-file or set "
                      "BERTH_ETCD_PASSWORD");
  }
  const std::string name = base::GoQuoted(etcd.password_file);
  Result<std::string> password = ReadAll(etcd.password_file, kMaxPasswordBytes);
  if (!password) {
    return base::Fail(Reason::kInvalid, fmt::format("--etcd-password-file: cannot read {}: {}",
                                                    name, password.error().message));
  }
  if (password->size() > kMaxPasswordBytes) {
    return base::Fail(Reason::kInvalid,
                      fmt::format("--etcd-password-file: {} is too large for a password", name));
  }
  while (password->ends_with('\n') || password->ends_with('\r')) password->pop_back();
  return password;
}

/// Opens etcd. With `read_only` nothing is written to it.
Result<OpenStore> OpenEtcd(const Address& address, const EtcdArguments& etcd,
                           store::etcd::EtcdOptions options, bool read_only, Tools& tools) {
  options.prefix = etcd.prefix;
  store::etcd::ClientOptions client;
  client.endpoints = address.endpoints;
  client.ca_file = etcd.cacert;
  client.cert_file = etcd.cert;
  client.key_file = etcd.key;
  client.user = etcd.user;
  if (!etcd.user.empty()) {
    Result<std::string> password = ReadPassword(etcd);
    if (!password) return tl::unexpected(password.error());
    client.password = *std::move(password);
  }
  auto engine = read_only ? store::etcd::OpenReadOnly(client, options, ObjectSlots(), tools.log(),
                                                      tools.clock())
                          : store::etcd::EtcdEngine::Open(client, options, ObjectSlots(),
                                                          tools.log(), tools.clock());
  if (!engine) return tl::unexpected(engine.error());
  const store::Revision compacted = (*engine)->Compacted();
  return OpenStore{.engine = *std::move(engine), .compacted = compacted};
}

Result<OpenStore> OpenRocks(const store::rocks::RocksOptions& options, Tools& tools) {
  auto engine = store::rocks::RocksEngine::Open(options, tools.log(), tools.clock());
  if (!engine) return tl::unexpected(engine.error());
  const store::Revision compacted = (*engine)->Compacted();
  const uint64_t keys = (*engine)->KeyCount();
  return OpenStore{.engine = *std::move(engine), .compacted = compacted, .keys = keys};
}

}  // namespace

Result<OpenStore> OpenToRead(const Address& address, const EtcdArguments& etcd, Tools& tools) {
  if (address.IsEmbedded()) {
    return OpenRocks(
        {.directory = StoreDirectory(address.directory), .create = false, .read_only = true},
        tools);
  }
  return OpenEtcd(address, etcd, {}, /*read_only=*/true, tools);
}

Result<OpenStore> OpenToChange(const Address& address, const EtcdArguments& etcd, Tools& tools) {
  if (address.IsEmbedded()) {
    return OpenRocks({.directory = StoreDirectory(address.directory), .create = false}, tools);
  }
  store::etcd::EtcdOptions options;
  options.create = false;
  return OpenEtcd(address, etcd, std::move(options), /*read_only=*/false, tools);
}

Result<OpenStore> OpenToFill(const Address& address, const EtcdArguments& etcd,
                             store::Revision base, Tools& tools) {
  if (address.IsEmbedded()) {
    return OpenRocks({.directory = address.directory, .base = base}, tools);
  }
  store::etcd::EtcdOptions options;
  options.base = base;
  return OpenEtcd(address, etcd, std::move(options), /*read_only=*/false, tools);
}

std::string StoreDirectory(const std::string& data_dir, bool to_make) {
  std::string folder = data_dir + "/store";
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return folder;
  if (!to_make || std::filesystem::exists(data_dir + "/CURRENT", error)) return data_dir;
  return folder;
}

store::SlotCodec ObjectSlots() { return {.write = codec::WriteSlot, .read = codec::ReadSlot}; }

store::Normalise WithoutSlots() { return codec::ClearSlot; }

int ExitCodeOf(const base::Error& error) {
  switch (error.reason) {
    case Reason::kBadRequest:
    case Reason::kInvalid:
    case Reason::kNotFound:
    case Reason::kAlreadyExists:
      return kBadUsage;
    default:
      return kFailed;
  }
}

int ReportError(std::string_view command, const base::Error& error) {
  fmt::print(stderr, "{}", AsInvoked(fmt::format("berth {}: {}\n", command, error.message)));
  return ExitCodeOf(error);
}

}  // namespace berth::cli
