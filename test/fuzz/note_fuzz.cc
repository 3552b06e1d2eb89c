// Any note of an etcd store is either refused or parsed, and a parsed note is equal after a round
// trip.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "store/etcd/note.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::store::etcd::NoteText;
  using berth::store::etcd::ParseNote;
  const auto note = ParseNote({reinterpret_cast<const char*>(data), size});
  if (!note) {
    fuzz::Require(!note.error().message.empty());
    return 0;
  }
  const auto again = ParseNote(NoteText(*note));
  fuzz::Require(again && *again == *note);
  return 0;
}
