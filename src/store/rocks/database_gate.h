// The database that is open at the moment, lent out to readers; it can be taken away and replaced
// under them. Readers that come while there is none wait for the next one.
//
// Threads: Borrow from any thread, but a thread that holds a loan must not wait for Close. Open,
// Close and Fail from one thread at a time.
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
  /// Keeps the database from being closed. Short: a page, not a session.
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

  /// An error when there is no database and none to be expected soon.
  base::Result<Loan> Borrow();

  /// Waits until no loan is left, then closes the database.
  void Close();
  void Open(std::unique_ptr<Database> database);
  /// There is none for now: whoever asks gets this error. Until the next Open.
  void Fail(base::Error error);

  /// For good: waits until nobody is inside, then closes the database. Whoever waits for one, or
  /// asks later, gets this error.
  void Shut(base::Error error);

  /// For the thread that opens and closes.
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
