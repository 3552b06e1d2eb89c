// What a credential plugin prints becomes a complete identity that can be sent in headers, or a
// refusal with a message.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "kube/exec_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto answer = berth::kube::ParseExecAnswer(text, "client.authentication.k8s.io/v1");
  if (!answer) {
    fuzz::Require(!answer.error().message.empty());
    return 0;
  }
  const berth::kube::Identity& identity = answer->identity;
  fuzz::Require(!identity.token.empty() || !identity.certificate_pem.empty());
  fuzz::Require(identity.certificate_pem.empty() == identity.key_pem.empty());
  for (const char c : identity.token) fuzz::Require(c > ' ' && c < '\x7f');
  return 0;
}
