#include "store/rocks/database_gate.h"

namespace berth::store::rocks {

base::Result<DatabaseGate::Loan> DatabaseGate::Borrow() {
  base::MutexLock lock(mutex_);
  ++waiting_;
  while (!failure_ && (closing_ || database_ == nullptr)) changed_.Wait(mutex_);
  --waiting_;
  if (failure_ && waiting_ == 0) changed_.NotifyAll();
  if (failure_) return tl::unexpected(*failure_);
  ++loans_;
  return Loan(*this, *database_);
}

void DatabaseGate::Return() {
  base::MutexLock lock(mutex_);
  --loans_;
  if (loans_ == 0) changed_.NotifyAll();
}

void DatabaseGate::Close() {
  std::unique_ptr<Database> old;
  base::MutexLock lock(mutex_);
  closing_ = true;
  failure_.reset();
  while (loans_ > 0) changed_.Wait(mutex_);
  old = std::move(database_);
  lock.Unlock();
  old.reset();  // This is slow, so it runs without the lock. Readers wait in Borrow meanwhile.
  lock.Lock();
  closing_ = false;
}

void DatabaseGate::Open(std::unique_ptr<Database> database) {
  base::MutexLock lock(mutex_);
  database_ = std::move(database);
  failure_.reset();
  changed_.NotifyAll();
}

void DatabaseGate::Fail(base::Error error) {
  base::MutexLock lock(mutex_);
  failure_ = std::move(error);
  changed_.NotifyAll();
}

void DatabaseGate::Shut(base::Error error) {
  base::MutexLock lock(mutex_);
  failure_ = std::move(error);
  changed_.NotifyAll();
  while (loans_ > 0 || waiting_ > 0) changed_.Wait(mutex_);
  database_.reset();
}

}  // namespace berth::store::rocks
