#include "store/etcd/testing/certificates.h"

#include <fmt/core.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace berth::store::etcd::testing {
namespace {

void Need(bool fine, const char* what) {
  if (fine) return;
  fmt::print(stderr, "cannot make certificates: {}\n", what);
  std::abort();
}

template <typename Write>
void WriteFile(const std::string& path, Write write) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "we"), &std::fclose);
  Need(file && write(file.get()) == 1 && std::fflush(file.get()) == 0, path.c_str());
}

void Extend(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Need(extension != nullptr && X509_add_ext(cert, extension, -1) == 1, value.c_str());
  X509_EXTENSION_free(extension);
}

void SetTime(ASN1_TIME* time, std::chrono::hours from_now) {
  Need(X509_gmtime_adj(time, std::chrono::seconds(from_now).count()) != nullptr, "time");
}

}  // namespace

void CertificateAuthority::Deleter::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
void CertificateAuthority::Deleter::operator()(X509* cert) const { X509_free(cert); }

CertificateAuthority::Cert CertificateAuthority::Make(const CertificateOptions& options,
                                                      EVP_PKEY* key, X509* issuer,
                                                      EVP_PKEY* issuer_key) {
  Cert cert(X509_new());
  X509_set_version(cert.get(), X509_VERSION_3);
  int64_t serial = 0;
  Need(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 7) == 1, "random");
  ASN1_INTEGER_set_int64(X509_get_serialNumber(cert.get()), serial);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(options.name.c_str()), -1, -1,
                             0);
  X509* signer = issuer != nullptr ? issuer : cert.get();
  X509_set_issuer_name(cert.get(), X509_get_subject_name(signer));
  SetTime(X509_getm_notBefore(cert.get()), options.from);
  SetTime(X509_getm_notAfter(cert.get()), options.until);
  X509_set_pubkey(cert.get(), key);
  Extend(cert.get(), signer, NID_basic_constraints,
         issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (issuer != nullptr) Extend(cert.get(), signer, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!options.alt_name.empty()) {
    Extend(cert.get(), signer, NID_subject_alt_name, options.alt_name);
  }
  Need(X509_sign(cert.get(), issuer_key, EVP_sha256()) != 0, "sign");
  return cert;
}

CertificateAuthority::CertificateAuthority(std::string dir, const std::string& name)
    : dir_(std::move(dir)), file_(fmt::format("{}/{}.pem", dir_, name)), key_(EVP_EC_gen("P-256")) {
  Need(key_ != nullptr, "key");
  cert_ = Make({.name = name}, key_.get(), nullptr, key_.get());
  WriteFile(file_, [&](FILE* file) { return PEM_write_X509(file, cert_.get()); });
}

CertificateAuthority::~CertificateAuthority() = default;

CertificateFiles CertificateAuthority::Issue(const CertificateOptions& options) const {
  const Key key(EVP_EC_gen("P-256"));
  Need(key != nullptr, "key");
  const Cert cert = Make(options, key.get(), cert_.get(), key_.get());
  CertificateFiles files{.cert = fmt::format("{}/{}.pem", dir_, options.name),
                         .key = fmt::format("{}/{}-key.pem", dir_, options.name)};
  WriteFile(files.cert, [&](FILE* file) { return PEM_write_X509(file, cert.get()); });
  WriteFile(files.key, [&](FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return files;
}

}  // namespace berth::store::etcd::testing
