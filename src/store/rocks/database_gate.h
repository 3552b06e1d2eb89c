// The database that is open at present. Readers borrow it, and it can be closed and replaced while
// there are readers. A reader that comes while no database is open waits for the next one.
//
// Threads: Borrow may be called from any thread, but a thread that holds a loan must not wait for
// Close. Open, Close and Fail may be called from one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "store/rocks/database.h"

namespace berth::store::rocks {

class DatabaseGate {
 public:
  /// Keeps the database from being closed. A loan must be short: a page, not a session.
  class Loan {
   public:
    Loan(DatabaseGate& gate, Database& database) : gate_(&gate), database_(&database) {}
    ~Loan() {
      if (gate_ != nullptr) gate_->Return();
    }
    Loan(Loan&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), database_(other.database_) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Loan& operator=(Loan&&) = delete;

    Database* operator->() const { return database_; }
    Database& operator*() const { return *database_; }

   private:
    DatabaseGate* gate_;
    Database* database_;
  };

  explicit DatabaseGate(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  /// Returns the open database. Waits while one is being opened. Returns an error if no database is
  /// open and none is expected soon.
  base::Result<Loan> Borrow();

  /// Waits until no loan is left, then closes the database.
  void Close();
  void Open(std::unique_ptr<Database> database);
  /// Makes every Borrow fail with this error until the next Open.
  void Fail(base::Error error);

  /// Closes the database for good, after all loans have ended. Readers that wait in Borrow or call
  /// it later get this error.
  void Shut(base::Error error);

  /// Returns the database. Only for the thread that opens and closes it.
  Database& Get() NO_THREAD_SAFETY_ANALYSIS { return *database_; }

 private:
  void Return();

  base::Mutex mutex_;
  base::CondVar changed_;
  std::unique_ptr<Database> database_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  size_t loans_ GUARDED_BY(mutex_) = 0;
  size_t waiting_ GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> failure_ GUARDED_BY(mutex_);
};

}  // namespace berth::store::rocks
