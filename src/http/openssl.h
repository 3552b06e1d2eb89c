// OpenSSL's objects as owners, and its errors as text. Inside the module only.
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

/// What OpenSSL has noted on this thread, and forgets now; "unknown error" if nothing.
std::string OpensslError();

/// All certificates of a PEM text, at least one.
base::Result<std::vector<X509Ptr>> ReadCertificates(std::string_view pem, std::string_view what);
base::Result<KeyPtr> ReadKey(std::string_view pem, std::string_view what);

/// Every value of one kind (NID_commonName, ...) in a name, as UTF-8, in order.
std::vector<std::string> NameEntries(const X509_NAME* name, int nid);

}  // namespace berth::http
