#include "store/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <new>

#include "store/keys.h"

namespace berth::store {
namespace {

/// Throws if there is not enough memory, which is the only reason for OpenSSL to fail here.
void Require(bool enough_memory) {
  if (!enough_memory) throw std::bad_alloc();
}

std::string_view UpToSlash(std::string_view text) { return text.substr(0, text.find('/')); }

}  // namespace

std::string HexText(const Sha256Sum& sum) {
  std::string out;
  for (const unsigned char byte : sum) out += fmt::format("{:02x}", byte);
  return out;
}

void Sha256::Free::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  Require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Add(std::string_view bytes) {
  Require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Sha256Sum Sha256::Sum() const {
  const std::unique_ptr<EVP_MD_CTX, Free> copy(EVP_MD_CTX_new());
  Sha256Sum sum{};
  Require(copy != nullptr && EVP_MD_CTX_copy_ex(copy.get(), context_.get()) == 1 &&
          EVP_DigestFinal_ex(copy.get(), sum.data(), nullptr) == 1);
  return sum;
}

std::string KindOfKey(std::string_view key) {
  if (key.starts_with(kOwnPrefix)) return "berth.io";
  if (!key.starts_with(kPrefix)) return std::string(key);
  const std::string_view path = key.substr(kPrefix.size());
  const std::string_view first = UpToSlash(path);
  if (first.size() == path.size()) return std::string(key);
  const std::string_view second = UpToSlash(path.substr(first.size() + 1));
  if (first == "services" && second == "endpoints") return "endpoints";
  // Kinds of a group that is not built in are stored under the group's name, others are not.
  if (first.find('.') != std::string_view::npos) return fmt::format("{}.{}", second, first);
  return std::string(first);
}

void StateSummary::Add(const Entry& entry) {
  const uint64_t bytes = entry.key.size() + entry.value.size();
  ++keys_;
  bytes_ += bytes;
  KindCount& kind = kinds_[KindOfKey(entry.key)];
  ++kind.keys;
  kind.bytes += bytes;
  if (entry.ttl) {
    ++expiring_;
    return;
  }
  for (const std::string_view part : {std::string_view(entry.key), std::string_view(entry.value)}) {
    std::array<char, 8> length{};
    for (size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(part.size() >> 8 * i);
    hash_.Add({length.data(), length.size()});
    hash_.Add(part);
  }
}

}  // namespace berth::store
