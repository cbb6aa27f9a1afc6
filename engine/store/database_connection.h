// The open SQLite file behind a RunStore: opening, migrating, transactions, and SQLite's failures as Errors.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <type_traits>
#include <utility>

#include "engine/base/result.h"
#include "engine/store/run_store.h"

namespace shardlab {

// Says what happened and what to do in the words of a user; `db` may be null when opening failed.
Error database_error(const std::filesystem::path& path, const SQLite::Exception& exception, sqlite3* db);

struct RunStore::Connection {
  std::filesystem::path path;
  SQLite::Database db;

  // Calls work(); an exception of SQLite becomes an Error.
  template <typename Work>
  std::invoke_result_t<Work> guarded(Work&& work) {
    try {
      return std::forward<Work>(work)();
    } catch (const SQLite::Exception& exception) {
      return fail(database_error(path, exception, db.getHandle()));
    }
  }
};

// Takes the write lock at once, so that two writers wait for each other instead of failing half-way. Undone
// unless committed.
class WriteTransaction {
 public:
  explicit WriteTransaction(SQLite::Database& db) : db_(db) { db_.exec("BEGIN IMMEDIATE"); }
  ~WriteTransaction();
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;
  void commit() { db_.exec("COMMIT"); }

 private:
  SQLite::Database& db_;
};

// Several SELECTs that see the same state.
class ReadTransaction {
 public:
  explicit ReadTransaction(SQLite::Database& db) : db_(db) { db_.exec("BEGIN"); }
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  SQLite::Database& db_;
};

// Brings a database that is empty or older to schema_version(), in one transaction.
Status migrate(SQLite::Database& db, const std::filesystem::path& path);

}  // namespace shardlab
