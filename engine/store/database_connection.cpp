#include "engine/store/database_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "engine/store/schema.h"

namespace shardlab {
namespace {

constexpr std::string_view k_unchanged =
    "what was stored before is unharmed; free some space, or name a file elsewhere with --db";

std::string system_reason(sqlite3* db) {
  const int number = db != nullptr ? sqlite3_system_errno(db) : 0;
  return number != 0 ? std::string(": ") + std::strerror(number) : std::string();
}

void roll_back_if_open(SQLite::Database& db) {
  if (sqlite3_get_autocommit(db.getHandle()) != 0) return;  // SQLite has done it on its own after a full disk
  sqlite3_exec(db.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

int pragma_value(SQLite::Database& db, const char* query) {
  return db.execAndGet(query).getInt();
}

bool is_new(SQLite::Database& db) {
  return pragma_value(db, "PRAGMA application_id") == 0 &&
         pragma_value(db, "SELECT count(*) FROM sqlite_master") == 0;
}

}  // namespace

Error database_error(const std::filesystem::path& path, const SQLite::Exception& exception, sqlite3* db) {
  const Place file = in_file(path.string());
  const std::string reason = system_reason(db);
  switch (exception.getErrorCode() & 0xff) {  // the primary code
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::not_possible, file, "another program is using the database and did not finish",
              "wait for it and try again"};
    case SQLITE_FULL:
      return {ErrorKind::not_possible, file, "no space is left for the database", std::string(k_unchanged)};
    case SQLITE_IOERR:
      return {ErrorKind::not_possible, file, "the database could not be read or written" + reason,
              std::string(k_unchanged)};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorKind::bad_input, file, "the database may not be written" + reason,
              "see who owns the file and its folder"};
    case SQLITE_CANTOPEN:
      return {ErrorKind::bad_input, file, "the database cannot be opened" + reason,
              "see who owns the file and its folder"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorKind::bad_input, file, fmt::format("the database is damaged ({})", exception.what()),
              "put back a copy, or begin a new file with --db"};
    case SQLITE_ERROR:  // no such column, no such table: what is asked is always the same, so it is the file
                        // that differs
      return {ErrorKind::bad_input, file,
              fmt::format("the tables of the database are not as shardlab makes them ({})", exception.what()),
              "put back a copy, or begin a new file with --db"};
    default: return {ErrorKind::internal, file, fmt::format("SQLite: {}", exception.what()), ""};
  }
}

WriteTransaction::~WriteTransaction() {
  roll_back_if_open(db_);
}
ReadTransaction::~ReadTransaction() {
  roll_back_if_open(db_);
}

Status migrate(SQLite::Database& db, const std::filesystem::path& path) {
  if (pragma_value(db, "PRAGMA user_version") == schema_version()) return {};
  WriteTransaction transaction(db);
  const int version = pragma_value(db, "PRAGMA user_version");  // again: another program may have been faster
  if (version == schema_version()) return {};
  if (version > schema_version() || (version == 0 && !is_new(db))) {
    return bad_input(in_file(path.string()),
                     "this is not a database that this shardlab knows, it was left as it is");
  }
  for (const Migration& migration : migrations()) {
    if (migration.version > version) db.exec(std::string(migration.sql));
  }
  db.exec(fmt::format("PRAGMA application_id = {}", k_application_id));
  db.exec(fmt::format("PRAGMA user_version = {}", schema_version()));
  transaction.commit();
  return {};
}

}  // namespace shardlab
