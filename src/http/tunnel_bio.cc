#include "http/tunnel_bio.h"

#include <string_view>

#include "http/transport.h"

namespace berth::http {
namespace {

Transport& OuterOf(BIO* bio) { return *static_cast<Transport*>(BIO_get_data(bio)); }

/// Tells OpenSSL what happened. The outer transport may want to write in order to read.
int TunnelResult(BIO* bio, const Transport::Outcome& outcome) {
  switch (outcome.status) {
    case Transport::Status::kOk:
      return static_cast<int>(outcome.bytes);
    case Transport::Status::kWantRead:
      BIO_set_retry_read(bio);
      return -1;
    case Transport::Status::kWantWrite:
      BIO_set_retry_write(bio);
      return -1;
    case Transport::Status::kClosed:
      BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
      return 0;
    default:
      return -1;
  }
}

int WriteToTunnel(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  return TunnelResult(bio, OuterOf(bio).Write(std::string_view(bytes, static_cast<size_t>(size))));
}

int ReadFromTunnel(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  return TunnelResult(bio, OuterOf(bio).Read(to, static_cast<size_t>(size)));
}

// NOLINTNEXTLINE(google-runtime-int): OpenSSL's type.
long ControlTunnel(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0;
}

}  // namespace

BIO* NewTunnelBio(Transport* outer) {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tunnel");
    BIO_meth_set_write(made, WriteToTunnel);
    BIO_meth_set_read(made, ReadFromTunnel);
    BIO_meth_set_ctrl(made, ControlTunnel);
    return made;
  }();
  BIO* bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, outer);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace berth::http
