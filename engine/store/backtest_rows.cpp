#include "engine/store/backtest_rows.h"

#include <string>

#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"
#include "engine/store/sql_values.h"
#include "engine/store/write_run.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string details_text(const BacktestRow& row) {
  Json groups = Json::array();
  for (const BacktestGroup& group : row.groups) groups.push_back({group.by, group.key});
  return text_of({{"nearest", row.nearest}, {"rules", row.rules}, {"groups", std::move(groups)}});
}

// An empty list, which holds nothing that is asked for, where there is too much.
Json parsed(const std::string& text) {
  return is_json_too_deep(text) || has_too_many_members(text) ? Json::array() : Json::parse(text);
}

void read_details(BacktestRow& row, const std::string& text) {
  const Json json = parsed(text);
  row.nearest = json.at("nearest").get<std::vector<std::string>>();
  row.rules = json.at("rules").get<std::vector<std::string>>();
  for (const Json& group : json.at("groups"))
    row.groups.push_back({group.at(0).get<std::string>(), group.at(1).get<std::string>()});
}

void write_row(SQLite::Statement& insert, std::int64_t backtest, std::int64_t position,
               const BacktestRow& row) {
  insert.bind(1, backtest);
  insert.bind(2, position);
  insert.bind(3, row.id);
  insert.bind(4, row.source);
  insert.bind(5, row.series);
  insert.bind(6, row.figure);
  bind_number(insert, 7, row.published);
  bind_number(insert, 8, row.predicted);
  bind_number(insert, 9, row.low);
  bind_number(insert, 10, row.high);
  bind_number(insert, 11, row.error);
  insert.bind(12, row.expressible ? 1 : 0);
  insert.bind(13, row.reason);
  insert.bind(14, row.ran_out_of_memory ? 1 : 0);
  bind_text_or_null(insert, 15, row.fits ? std::optional(std::string(to_string(*row.fits))) : std::nullopt);
  insert.bind(16, details_text(row));
  insert.exec();
  insert.reset();
}

BacktestRow read_row(SQLite::Statement& query) {
  BacktestRow row;
  row.id = query.getColumn(0).getString();
  row.source = query.getColumn(1).getString();
  row.series = query.getColumn(2).getString();
  row.figure = query.getColumn(3).getString();
  row.published = read_number(query.getColumn(4));
  row.predicted = read_number(query.getColumn(5));
  row.low = read_number(query.getColumn(6));
  row.high = read_number(query.getColumn(7));
  row.error = read_number(query.getColumn(8));
  row.expressible = query.getColumn(9).getInt() != 0;
  row.reason = query.getColumn(10).getString();
  row.ran_out_of_memory = query.getColumn(11).getInt() != 0;
  if (!query.getColumn(12).isNull()) row.fits = parse_word<Fit>(query.getColumn(12).getString());
  read_details(row, query.getColumn(13).getString());
  return row;
}

std::vector<BacktestRow> read_rows(SQLite::Database& db, std::int64_t backtest) {
  SQLite::Statement query(db,
                          "SELECT row, source, series, figure, published, predicted, low, high, error, "
                          "expressible, reason, ran_out_of_memory, fits, details FROM backtest_rows WHERE "
                          "backtest_id = ? ORDER BY position");
  query.bind(1, backtest);
  std::vector<BacktestRow> rows;
  while (query.executeStep()) rows.push_back(read_row(query));
  return rows;
}

}  // namespace

std::int64_t write_backtest(SQLite::Database& db, const Backtest& backtest, std::int64_t created) {
  SQLite::Statement insert(
      db,
      "INSERT INTO backtests (created, metric, table_file, settings, has_bands, within_bands, band_part) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, created_or_now(created));
  insert.bind(2, std::string(to_string(backtest.metric)));
  insert.bind(3, backtest.table);
  insert.bind(4, text_of(Json(backtest.settings)));
  insert.bind(5, backtest.has_bands ? 1 : 0);
  bind_number(insert, 6, backtest.within_bands);
  insert.bind(7, backtest.band_part);
  insert.exec();
  const std::int64_t id = db.getLastInsertRowid();
  SQLite::Statement rows(db,
                         "INSERT INTO backtest_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t position = 0;
  for (const BacktestRow& row : backtest.rows) write_row(rows, id, position++, row);
  return id;
}

Result<std::optional<BacktestEntry>> read_latest_backtest(SQLite::Database& db, BacktestMetric metric) {
  SQLite::Statement query(
      db,
      "SELECT id, created, table_file, settings, has_bands, within_bands, band_part FROM backtests "
      "WHERE metric = ? ORDER BY id DESC LIMIT 1");
  query.bind(1, std::string(to_string(metric)));
  if (!query.executeStep()) return std::nullopt;
  BacktestEntry entry{query.getColumn(0).getInt64(), query.getColumn(1).getInt64(), {}};
  entry.backtest.metric = metric;
  entry.backtest.table = query.getColumn(2).getString();
  entry.backtest.has_bands = query.getColumn(4).getInt() != 0;
  entry.backtest.within_bands = read_number(query.getColumn(5));
  entry.backtest.band_part = query.getColumn(6).getDouble();
  try {
    entry.backtest.settings = parsed(query.getColumn(3).getString()).get<std::vector<std::string>>();
    entry.backtest.rows = read_rows(db, entry.id);
  } catch (const Json::exception& error) {
    return bad_input("a stored backtest", error.what());
  }
  return entry;
}

}  // namespace shardlab
