#include "http/openssl.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

namespace berth::http {
namespace {

BioPtr Reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Refuses to ask for a password, since a server must not stop at a prompt.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return -1; }

}  // namespace

std::string OpensslError() {
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type.
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

base::Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem, std::string_view what) {
  const BioPtr in = Reader(pem);
  std::vector<X509Ptr> certificates;
  while (X509* certificate = PEM_read_bio_X509(in.get(), nullptr, NoPassword, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const auto code = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  if (certificates.empty() || !at_end) {
    ERR_clear_error();
    return base::Fail(
        base::Reason::kInvalid,
        fmt::format("{} holds {} in PEM form", what,
                    certificates.empty() ? "no certificate" : "a broken certificate"));
  }
  ERR_clear_error();
  return certificates;
}

base::Result<KeyPtr> ReadKey(std::string_view pem, std::string_view what) {
  const BioPtr in = Reader(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(in.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("{} holds no unencrypted private key in PEM form", what));
  }
  return key;
}

std::vector<std::string> NameEntries(const X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    values.emplace_back(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
    OPENSSL_free(text);
  }
  return values;
}

}  // namespace berth::http
