// Owning pointers for OpenSSL objects, used by the TLS checks.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace berth::store::etcd::wire {

struct TlsDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(X509* cert) const { X509_free(cert); }
};
template <typename T>
using TlsOwned = std::unique_ptr<T, TlsDeleter>;

/// Returns a reader of `pem`, which must outlive it.
inline TlsOwned<BIO> PemReader(const std::string& pem) {
  return TlsOwned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

}  // namespace berth::store::etcd::wire
