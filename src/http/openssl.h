// Owning pointers for OpenSSL's objects, and its errors as text. Internal to the module.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::http {

template <auto Free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using SslCtxPtr = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// Returns and clears the error that OpenSSL has noted on this thread, or returns "unknown error"
/// if it has noted nothing.
std::string OpensslError();

/// Reads all certificates of a PEM text. Fails if the text has no certificate.
base::Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem, std::string_view what);
base::Result<KeyPtr> ReadKey(std::string_view pem, std::string_view what);

/// Returns every value of one kind (NID_commonName, ...) in a name, as UTF-8, in order.
std::vector<std::string> NameEntries(const X509_NAME* name, int nid);

}  // namespace berth::http
