#include "alloc/dense_set.h"

#include <algorithm>
#include <bit>
#include <new>

namespace berth::alloc {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kWordBits = 64;

/// Returns how many bits are set in each byte. Computed by hand because the baseline x86-64 has no
/// instruction that counts bits.
constexpr uint64_t ByteCounts(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555;
  word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
  return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

constexpr int PopCount(uint64_t word) { return static_cast<int>((ByteCounts(word) * kOnes) >> 56); }

/// kSelectInByte[b][k] is the position of the k-th set bit of byte b.
constexpr auto kSelectInByte = [] {
  std::array<std::array<uint8_t, 8>, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    size_t rank = 0;
    for (uint8_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit) & 1) table[byte][rank++] = bit;
    }
  }
  return table;
}();

/// Returns the position of the k-th set bit of `word`, which must have more than k set bits.
uint32_t SelectInWord(uint64_t word, uint32_t k) {
  // Byte i of `up_to` counts the bits in bytes 0..i. Setting bit 7 of each byte of k before
  // subtracting keeps the bytes apart. The bit survives where the count is at most k.
  const uint64_t up_to = ByteCounts(word) * kOnes;
  const uint64_t passed = (((k * kOnes) | (kOnes << 7)) - up_to) & (kOnes << 7);
  const auto byte = static_cast<uint32_t>(((passed >> 7) * kOnes) >> 56);
  const auto before = static_cast<uint32_t>(((up_to << 8) >> (8 * byte)) & 0xff);
  return 8 * byte + kSelectInByte[(word >> (8 * byte)) & 0xff][k - before];
}

constexpr uint64_t BitsBelow(uint64_t bit) { return (uint64_t{1} << bit) - 1; }

constexpr size_t CeilDiv(size_t a, size_t b) { return (a + b - 1) / b; }

/// Returns the child that holds the k-th free value, given running sums. Sets `k` to the rank
/// inside that child.
template <typename Sums>
size_t Descend(const Sums& free_before, int32_t& k) {
  using Sum = typename Sums::value_type;
  const auto bound = static_cast<Sum>(k + 1);
  Sum passed = 0;
  for (const Sum sum : free_before) passed = static_cast<Sum>(passed + (sum < bound ? 1 : 0));
  const auto child = static_cast<size_t>(passed - 1);
  k -= free_before[child];
  return child;
}

template <typename Sums>
void AddAfter(Sums& free_before, size_t child, int delta) {
  using Sum = typename Sums::value_type;
  const auto after = static_cast<Sum>(child);
  const auto step = static_cast<Sum>(delta);
  for (Sum i = 0; i < static_cast<Sum>(free_before.size()); ++i) {
    Sum& sum = free_before[static_cast<size_t>(i)];
    sum = static_cast<Sum>(sum + (i > after ? step : Sum{0}));
  }
}

/// Fills in the running sums of the children's counts. Returns the total.
template <typename Sums>
int32_t SumUp(Sums& free_before, std::span<const int32_t> counts) {
  int32_t sum = 0;
  for (size_t i = 0; i < free_before.size(); ++i) {
    free_before[i] = static_cast<typename Sums::value_type>(sum);
    if (i < counts.size()) sum += counts[i];
  }
  return sum;
}

}  // namespace

DenseSet::DenseSet(uint64_t size)
    : size_(size),
      words_(std::max<size_t>(1, CeilDiv(size, kFanOut * kWordBits)) * kFanOut),
      low_(MakePlane()),
      leaves_(words_ / kFanOut) {
  for (uint64_t bit = size_; bit < words_ * kWordBits;) {
    low_[bit / kWordBits] |= ~BitsBelow(bit % kWordBits);
    bit = (bit / kWordBits + 1) * kWordBits;
  }
  size_t width = leaves_.size();
  do {
    width = CeilDiv(width, kFanOut);
    levels_.push_back(nodes_.size());
    nodes_.resize(nodes_.size() + width);
  } while (width > 1);
  BuildCounters();
}

DenseSet::Plane DenseSet::MakePlane() const {
  auto* words = static_cast<uint64_t*>(std::calloc(words_, sizeof(uint64_t)));
  if (words == nullptr) throw std::bad_alloc();
  return Plane(words);
}

uint64_t DenseSet::FreeWord(size_t word) const { return ~(low_[word] | (high_ ? high_[word] : 0)); }

/// Returns the values of a word that are in the state `held`, as a mask.
uint64_t DenseSet::HeldWord(size_t word, State held) const {
  const uint64_t low = low_[word];
  const uint64_t high = high_ ? high_[word] : 0;
  if (held == State::kReserved) return low & high;
  return held == State::kCooling ? ~low & high : low & ~high;
}

void DenseSet::BuildCounters() {
  std::vector<int32_t> counts(leaves_.size());  // Counts of the level below the one being built.
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    std::array<int32_t, kFanOut> words;
    for (size_t i = 0; i < kFanOut; ++i) words[i] = PopCount(FreeWord(leaf * kFanOut + i));
    counts[leaf] = SumUp(leaves_[leaf].free_before, words);
  }
  for (const size_t level : levels_) {
    std::vector<int32_t> totals(CeilDiv(counts.size(), kFanOut));
    for (size_t node = 0; node < totals.size(); ++node) {
      const auto children = std::span(counts).subspan(node * kFanOut);
      totals[node] = SumUp(nodes_[level + node].free_before,
                           children.first(std::min(children.size(), kFanOut)));
    }
    counts = std::move(totals);
  }
  free_ = static_cast<uint32_t>(counts.front());
}

void DenseSet::AddToCounters(size_t word, int delta) {
  free_ += static_cast<uint32_t>(delta);
  size_t child = word / kFanOut;
  AddAfter(leaves_[child].free_before, word % kFanOut, delta);
  for (const size_t level : levels_) {
    AddAfter(nodes_[level + child / kFanOut].free_before, child % kFanOut, delta);
    child /= kFanOut;
  }
}

State DenseSet::Get(U128 number) const {
  const auto bit = static_cast<uint64_t>(number);
  const uint64_t mask = uint64_t{1} << bit % kWordBits;
  const bool low = (low_[bit / kWordBits] & mask) != 0;
  const bool high = high_ && (high_[bit / kWordBits] & mask) != 0;
  if (low) return high ? State::kReserved : State::kTaken;
  return high ? State::kCooling : State::kFree;
}

void DenseSet::SetBits(uint64_t number, State state) {
  const size_t word = number / kWordBits;
  const uint64_t mask = uint64_t{1} << number % kWordBits;
  const bool low = state == State::kTaken || state == State::kReserved;
  const bool high = state == State::kCooling || state == State::kReserved;
  if (high && !high_) high_ = MakePlane();
  low_[word] = low ? low_[word] | mask : low_[word] & ~mask;
  if (high_) high_[word] = high ? high_[word] | mask : high_[word] & ~mask;
}

void DenseSet::Put(U128 number, State state) {
  const auto bit = static_cast<uint64_t>(number);
  const bool was_free = ((FreeWord(bit / kWordBits) >> bit % kWordBits) & 1) != 0;
  const bool is_free = state == State::kFree;
  SetBits(bit, state);
  if (was_free != is_free) AddToCounters(bit / kWordBits, is_free ? 1 : -1);
}

uint64_t DenseSet::SelectFree(uint64_t rank) const {
  auto k = static_cast<int32_t>(rank);
  size_t child = 0;
  for (size_t level = levels_.size(); level-- > 0;) {
    child = child * kFanOut + Descend(nodes_[levels_[level] + child].free_before, k);
  }
  const size_t word = child * kFanOut + Descend(leaves_[child].free_before, k);
  return word * kWordBits + SelectInWord(FreeWord(word), static_cast<uint32_t>(k));
}

/// Returns how many free values lie below `number`.
uint64_t DenseSet::RankFree(uint64_t number) const {
  const size_t word = number / kWordBits;
  int rank = PopCount(FreeWord(word) & BitsBelow(number % kWordBits));
  size_t child = word / kFanOut;
  rank += leaves_[child].free_before[word % kFanOut];
  for (const size_t level : levels_) {
    rank += nodes_[level + child / kFanOut].free_before[child % kFanOut];
    child /= kFanOut;
  }
  return static_cast<uint64_t>(rank);
}

U128 DenseSet::PickFree(base::Random& random) const {
  return SelectFree(base::Uniform(random, free_));
}

std::optional<uint64_t> DenseSet::NextFree(uint64_t from) const {
  const uint64_t rank = RankFree(from);
  if (rank == free_) return std::nullopt;
  return SelectFree(rank);
}

void DenseSet::ForEach(State held, const std::function<void(U128)>& visit) const {
  for (size_t word = 0; word < words_; ++word) {
    for (uint64_t bits = HeldWord(word, held); bits != 0; bits &= bits - 1) {
      const uint64_t number = word * kWordBits + static_cast<uint64_t>(std::countr_zero(bits));
      if (number >= size_) return;
      visit(number);
    }
  }
}

std::vector<U128> DenseSet::Held(State held) const {
  std::vector<U128> numbers;
  ForEach(held, [&](U128 number) { numbers.push_back(number); });
  return numbers;
}

uint64_t DenseSet::NextNotFree(uint64_t from) const {
  size_t word = from / kWordBits;
  uint64_t bits = ~FreeWord(word) & ~BitsBelow(from % kWordBits);
  while (bits == 0) {
    if (++word == words_) return size_;
    bits = ~FreeWord(word);
  }
  return std::min(size_, word * kWordBits + static_cast<uint64_t>(std::countr_zero(bits)));
}

void DenseSet::ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const {
  while (from < size_) {
    const std::optional<uint64_t> first = NextFree(static_cast<uint64_t>(from));
    if (!first) return;
    const uint64_t end = NextNotFree(*first);
    if (!visit({*first, U128{end} - 1})) return;
    from = end;
  }
}

void DenseSet::PutAll(std::span<const U128> numbers, State state) {
  for (const U128 number : numbers) SetBits(static_cast<uint64_t>(number), state);
  BuildCounters();
}

size_t DenseSet::MemoryBytes() const {
  const size_t planes = (low_ ? 1 : 0) + (high_ ? 1 : 0);
  return sizeof *this + planes * words_ * sizeof(uint64_t) + leaves_.capacity() * sizeof(Leaf) +
         nodes_.capacity() * sizeof(Node) + levels_.capacity() * sizeof(size_t);
}

}  // namespace berth::alloc
