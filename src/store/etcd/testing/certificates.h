// Certificates for tests: an authority of the test's own and the certificates it signs, as PEM
// files.
#pragma once

#include <openssl/types.h>

#include <chrono>
#include <memory>
#include <string>

namespace berth::store::etcd::testing {

struct CertificateFiles {
  std::string cert;
  std::string key;
};

struct CertificateOptions {
  std::string name = {};         // CN, and the name of the files.
  std::string alt_name = {};     // "IP:127.0.0.1" or "DNS:localhost"; empty means no such name.
  std::chrono::hours from{-24};  // Start and end of validity, relative to now.
  std::chrono::hours until{24};
};

class CertificateAuthority {
 public:
  /// Writes DIR/NAME.pem. Exits the test if OpenSSL or the disk fails.
  CertificateAuthority(std::string dir, const std::string& name);
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  const std::string& File() const { return file_; }

  /// Issues a certificate for servers and clients alike.
  CertificateFiles Issue(const CertificateOptions& options) const;

 private:
  struct Deleter {
    void operator()(EVP_PKEY* key) const;
    void operator()(X509* cert) const;
  };
  using Key = std::unique_ptr<EVP_PKEY, Deleter>;
  using Cert = std::unique_ptr<X509, Deleter>;

  static Cert Make(const CertificateOptions& options, EVP_PKEY* key, X509* issuer,
                   EVP_PKEY* issuer_key);

  const std::string dir_;
  const std::string file_;
  Key key_;
  Cert cert_;
};

}  // namespace berth::store::etcd::testing
