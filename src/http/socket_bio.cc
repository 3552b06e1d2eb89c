#include "http/socket_bio.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

namespace berth::http {
namespace {

int SocketOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

bool IsLater(int error) { return error == EAGAIN || error == EINTR; }

int WriteToSocket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t written =
      ::send(SocketOf(bio), bytes, static_cast<size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (written < 0 && IsLater(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(written);
}

int ReadFromSocket(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t bytes = ::recv(SocketOf(bio), to, static_cast<size_t>(size), MSG_DONTWAIT);
  if (bytes < 0 && IsLater(errno)) BIO_set_retry_read(bio);
  if (bytes == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(bytes);
}

// NOLINTNEXTLINE(google-runtime-int): OpenSSL's type.
long Control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  switch (command) {
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP:
      return 1;
    default:
      return 0;
  }
}

const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const made = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(method, WriteToSocket);
    BIO_meth_set_read(method, ReadFromSocket);
    BIO_meth_set_ctrl(method, Control);
    return method;
  }();
  return made;
}

}  // namespace

BIO* NewSocketBio(int socket) {
  BIO* bio = BIO_new(SocketMethod());
  if (bio == nullptr) return nullptr;
  // The data of a BIO is a pointer; this one has a number instead.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace berth::http
