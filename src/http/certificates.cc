#include "http/certificates.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "http/openssl.h"

namespace berth::http {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

using NamesPtr = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;

constexpr auto kBackdate = std::chrono::minutes(5);
constexpr size_t kSerialBytes = 16;

enum class Use { kAuthority, kServing, kClient };

struct Subject {
  std::string common_name;
  std::vector<std::string> organizations = {};
};

tl::unexpected<base::Error> OpensslFail(std::string_view what) {
  return Fail(Reason::kInternalError, fmt::format("{}: {}", what, OpensslError()));
}

bool AddExtension(X509* certificate, int nid, const char* value, X509* issuer) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool SetSubject(X509_NAME* name, const Subject& subject) {
  const auto add = [name](int nid, const std::string& text) {
    return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()), -1, 0) == 1;
  };
  for (const std::string& organization : subject.organizations) {
    if (!add(NID_organizationName, organization)) return false;
  }
  return add(NID_commonName, subject.common_name);
}

bool SetSerial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes{};
  if (RAND_bytes(bytes.data(), kSerialBytes) != 1) return false;
  bytes[0] &= 0x7f;  // Positive, and
  bytes[0] |= 0x40;  // always of full length.
  BIGNUM* number = BN_bin2bn(bytes.data(), kSerialBytes, nullptr);
  const bool set = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

void SetTimes(X509* certificate, Validity validity) {
  const auto seconds = [](base::WallTime time) {
    return static_cast<time_t>(
        std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
  };
  ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(validity.from - kBackdate));
  ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(validity.from + validity.length));
}

/// Adds the names one by one. OpenSSL's text form is not used, since names could contain its
/// syntax.
Result<void> AddNames(X509* certificate, const ServingNames& names) {
  const NamesPtr list(GENERAL_NAMES_new());
  for (const std::string& dns : names.dns) {
    GENERAL_NAME* name = GENERAL_NAME_new();
    ASN1_IA5STRING* text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, dns.data(), static_cast<int>(dns.size()));
    GENERAL_NAME_set0_value(name, GEN_DNS, text);
    sk_GENERAL_NAME_push(list.get(), name);
  }
  for (const std::string& ip : names.ips) {
    ASN1_OCTET_STRING* address = a2i_IPADDRESS(ip.c_str());
    if (address == nullptr) {
      ERR_clear_error();
      return Fail(Reason::kInvalid, fmt::format("{} is not an IP address", ip));
    }
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    sk_GENERAL_NAME_push(list.get(), name);
  }
  if (sk_GENERAL_NAME_num(list.get()) == 0) return {};
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) != 1) {
    return OpensslFail("cannot name a certificate");
  }
  return {};
}

bool AddUse(X509* certificate, Use use, X509* issuer) {
  const bool authority = use == Use::kAuthority;
  const char* constraints = authority ? "critical,CA:TRUE" : "critical,CA:FALSE";
  const char* usage =
      authority ? "critical,digitalSignature,keyCertSign,cRLSign" : "critical,digitalSignature";
  if (!AddExtension(certificate, NID_basic_constraints, constraints, issuer) ||
      !AddExtension(certificate, NID_key_usage, usage, issuer) ||
      !AddExtension(certificate, NID_subject_key_identifier, "hash", issuer)) {
    return false;
  }
  if (authority) return true;
  return AddExtension(certificate, NID_authority_key_identifier, "keyid", issuer) &&
         AddExtension(certificate, NID_ext_key_usage,
                      use == Use::kServing ? "serverAuth" : "clientAuth", issuer);
}

template <typename Write>
std::string ToPem(const Write& write) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  write(out.get());
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<size_t>(size)};
}

struct Issuer {
  X509Ptr certificate;
  KeyPtr key;
};

Result<Issuer> ReadIssuer(const KeyPair& authority) {
  auto certificates = ReadCertificates(authority.certificate_pem, "the authority");
  if (!certificates) return tl::unexpected(certificates.error());
  auto key = ReadKey(authority.key_pem, "the authority's key");
  if (!key) return tl::unexpected(key.error());
  if (X509_check_private_key(certificates->front().get(), key->get()) != 1) {
    ERR_clear_error();
    return Fail(Reason::kInvalid, "the authority's key does not belong to its certificate");
  }
  return Issuer{.certificate = std::move(certificates->front()), .key = std::move(*key)};
}

/// Makes a certificate signed by `issuer`, or self-signed if `issuer` is null.
Result<KeyPair> Make(const Issuer* issuer, const Subject& subject, Use use,
                     const ServingNames& names, Validity validity) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return OpensslFail("cannot make a key");
  X509* const made = certificate.get();
  X509* const signer = issuer == nullptr ? made : issuer->certificate.get();
  X509_set_version(made, X509_VERSION_3);
  SetTimes(made, validity);
  if (!SetSubject(X509_get_subject_name(made), subject)) {
    ERR_clear_error();
    return Fail(Reason::kInvalid,
                fmt::format("\"{}\" and its groups do not fit into a certificate: names are 1 to "
                            "64 characters",
                            subject.common_name));
  }
  if (!SetSerial(made) || X509_set_issuer_name(made, X509_get_subject_name(signer)) != 1 ||
      X509_set_pubkey(made, key.get()) != 1 || !AddUse(made, use, signer)) {
    return OpensslFail("cannot make a certificate");
  }
  if (auto added = AddNames(made, names); !added) return tl::unexpected(added.error());
  if (X509_sign(made, issuer == nullptr ? key.get() : issuer->key.get(), EVP_sha256()) == 0) {
    return OpensslFail("cannot sign a certificate");
  }
  return KeyPair{
      .certificate_pem = ToPem([made](BIO* out) { PEM_write_bio_X509(out, made); }),
      .key_pem = ToPem([&key](BIO* out) {
        PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      }),
  };
}

base::WallTime TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return base::WallTime(std::chrono::seconds(timegm(&parts)));
}

std::string IpText(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = ASN1_STRING_length(address) == 4;
  if (!v4 && ASN1_STRING_length(address) != 16) return "";
  inet_ntop(v4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

}  // namespace

Result<KeyPair> MakeAuthority(const std::string& common_name, Validity validity) {
  return Make(nullptr, {.common_name = common_name}, Use::kAuthority, {}, validity);
}

Result<KeyPair> MakeServing(const KeyPair& authority, const ServingNames& names,
                            Validity validity) {
  const auto issuer = ReadIssuer(authority);
  if (!issuer) return tl::unexpected(issuer.error());
  return Make(&*issuer, {.common_name = names.common_name}, Use::kServing, names, validity);
}

Result<KeyPair> MakeClient(const KeyPair& authority, const std::string& common_name,
                           const std::vector<std::string>& organizations, Validity validity) {
  const auto issuer = ReadIssuer(authority);
  if (!issuer) return tl::unexpected(issuer.error());
  return Make(&*issuer, {.common_name = common_name, .organizations = organizations}, Use::kClient,
              {}, validity);
}

Result<CertificateInfo> ReadCertificate(const std::string& pem) {
  const auto certificates = ReadCertificates(pem, "the text");
  if (!certificates) return tl::unexpected(certificates.error());
  X509* certificate = certificates->front().get();
  const X509_NAME* subject = X509_get_subject_name(certificate);
  std::vector<std::string> names = NameEntries(subject, NID_commonName);
  CertificateInfo info{.common_name = names.empty() ? "" : std::move(names.back()),
                       .organizations = NameEntries(subject, NID_organizationName),
                       .dns = {},
                       .ips = {},
                       .not_before = TimeOf(X509_get0_notBefore(certificate)),
                       .not_after = TimeOf(X509_get0_notAfter(certificate)),
                       .is_authority = X509_check_ca(certificate) == 1};
  const NamesPtr list(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < (list == nullptr ? 0 : sk_GENERAL_NAME_num(list.get())); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) {
      info.dns.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                            static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      info.ips.push_back(IpText(name->d.iPAddress));
    }
  }
  return info;
}

Result<bool> StillValid(const std::string& pem, base::WallTime now, std::chrono::seconds margin) {
  const auto info = ReadCertificate(pem);
  if (!info) return tl::unexpected(info.error());
  return info->not_before <= now && now + margin < info->not_after;
}

}  // namespace berth::http
