// One range to allocate from, whatever way it is stored: as a record for each value, or as a
// bitmap. What is allocated here counts at once and is stored by whoever put the allocator
// together: both forms say what has to be written for all that was changed since they were made.
//
// Not thread-safe. A value is allocated at most once; an allocation is never lost, whatever is
// asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "alloc/bitmap_change.h"
#include "alloc/index.h"
#include "alloc/range_allocation.h"
#include "base/random.h"
#include "base/result.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::alloc {

class Allocator {
 public:
  virtual ~Allocator() = default;

  /// A given value.
  virtual Outcome Allocate(U128 value) = 0;
  /// Any free one, of the dynamic band first; nothing: the range is full.
  virtual std::optional<U128> AllocateNext() = 0;
  /// Of a value that is free, or not in the range, nothing has to be done.
  virtual void Release(U128 value) = 0;
  /// What is allocated, ascending.
  virtual void ForEach(const std::function<void(U128)>& visit) const = 0;
  /// "10.96.0.0/12", "30000-32767".
  virtual const std::string& Cidr() const = 0;
  virtual bool Has(U128 value) const = 0;
};

/// What both forms have in common: an index, and what has changed since it was loaded.
class IndexedAllocator : public Allocator {
 public:
  Outcome Allocate(U128 value) override;
  std::optional<U128> AllocateNext() override;
  void Release(U128 value) override;
  void ForEach(const std::function<void(U128)>& visit) const override;
  const std::string& Cidr() const override { return range_; }
  bool Has(U128 value) const override { return index_.Has(value); }

  const Index& index() const { return index_; }
  /// Ascending. Values that were allocated and released again, or the other way round, are in
  /// neither list.
  BitmapChange Changes() const;

 protected:
  /// `random` must outlive it.
  IndexedAllocator(std::string range, Index index, base::Random& random);

 private:
  const std::string range_;
  Index index_;
  base::Random& random_;
  std::set<U128> taken_;
  std::set<U128> given_;
};

/// A record for each value: those to be put and deleted are Changes().
class RecordAllocator final : public IndexedAllocator {
 public:
  /// `stored` are the values of records; those outside the range belong to others.
  RecordAllocator(std::string range, Layout layout, std::span<const U128> stored,
                  base::Random& random);
};

/// One bitmap for all.
class BitmapAllocator final : public IndexedAllocator {
 public:
  /// Fails when another range is stored. `layout` is BitmapLayoutOf an IPv6 range.
  static base::Result<BitmapAllocator> Load(const BitmapForm& form, Layout layout,
                                            RangeAllocation stored, base::Random& random);

  /// What is to be stored. Bits that stand for no value stay as they were.
  RangeAllocation Stored() const;

 private:
  BitmapAllocator(const BitmapForm& form, RangeAllocation stored, Index index,
                  base::Random& random);

  BitmapForm form_;
  RangeAllocation stored_;
};

}  // namespace berth::alloc
