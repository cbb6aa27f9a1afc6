#include "engine/store/annotations.h"

#include <algorithm>

#include "engine/store/sql_values.h"
#include "engine/store/write_run.h"

namespace shardlab {
namespace {

constexpr std::array<std::string_view, 4> k_units = {"ns", "bytes", "tokens/s", "fraction"};  // by MetricUnit

MetricUnit unit_of(std::string_view name) {
  const auto found = std::find(k_units.begin(), k_units.end(), name);
  return found == k_units.end() ? MetricUnit::fraction : static_cast<MetricUnit>(found - k_units.begin());
}

Verdict verdict_of(std::string_view name) {
  for (Verdict verdict : {Verdict::pass, Verdict::fail}) {
    if (to_string(verdict) == name) return verdict;
  }
  return Verdict::not_judged;
}

void write_metrics(SQLite::Database& db, std::int64_t comparison, const std::vector<Metric>& metrics) {
  SQLite::Statement insert(db, "INSERT INTO comparison_metrics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    insert.bind(1, comparison);
    insert.bind(2, static_cast<std::int64_t>(i));
    insert.bind(3, metrics[i].name);
    insert.bind(4, std::string(k_units[static_cast<std::size_t>(metrics[i].unit)]));
    bind_number(insert, 5, metrics[i].predicted);
    bind_number(insert, 6, metrics[i].measured);
    bind_number(insert, 7, metrics[i].error);
    bind_number(insert, 8, metrics[i].tolerance);
    insert.bind(9, std::string(to_string(metrics[i].verdict)));
    insert.exec();
    insert.reset();
  }
}

std::vector<Metric> read_metrics(SQLite::Database& db, std::int64_t comparison) {
  SQLite::Statement query(
      db,
      "SELECT name, unit, predicted, measured, error, tolerance, verdict FROM comparison_metrics "
      "WHERE comparison_id = ? ORDER BY position");
  query.bind(1, comparison);
  std::vector<Metric> metrics;
  while (query.executeStep()) {
    metrics.push_back({query.getColumn(0).getString(), unit_of(query.getColumn(1).getString()),
                       read_number(query.getColumn(2)), read_number(query.getColumn(3)),
                       read_number(query.getColumn(4)), read_number(query.getColumn(5)),
                       verdict_of(query.getColumn(6).getString())});
  }
  return metrics;
}

}  // namespace

Status check_tag(std::string_view tag) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (tag.empty() || std::any_of(tag.begin(), tag.end(), is_control)) {
    return bad_input("tag", "a tag is a word or a few, without line breaks");
  }
  return {};
}

std::int64_t write_calibration(SQLite::Database& db, const CalibrationRecord& calibration) {
  SQLite::Statement insert(db, "INSERT INTO calibrations (created, key, machine, text) VALUES (?, ?, ?, ?)");
  insert.bind(1, created_or_now(calibration.created));
  insert.bind(2, calibration.key);
  insert.bind(3, calibration.machine);
  insert.bind(4, calibration.text);
  insert.exec();
  return db.getLastInsertRowid();
}

std::vector<CalibrationRecord> read_calibrations(SQLite::Database& db,
                                                 std::optional<std::string_view> machine, int limit) {
  SQLite::Statement query(db,
                          "SELECT id, created, key, machine, text FROM calibrations WHERE ?1 IS NULL OR "
                          "machine = ?1 ORDER BY id DESC LIMIT ?2");
  machine ? query.bind(1, std::string(*machine)) : query.bind(1);
  query.bind(2, limit > 0 ? limit : -1);
  std::vector<CalibrationRecord> calibrations;
  while (query.executeStep()) {
    calibrations.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getInt64(),
                            query.getColumn(2).getString(), query.getColumn(3).getString(),
                            query.getColumn(4).getString()});
  }
  return calibrations;
}

std::int64_t write_comparison(SQLite::Database& db, RunId predicted, RunId measured,
                              const Comparison& comparison) {
  SQLite::Statement insert(
      db, "INSERT INTO comparisons (created, predicted_run, measured_run, verdict) VALUES (?, ?, ?, ?)");
  insert.bind(1, created_or_now(0));
  insert.bind(2, predicted.value);
  insert.bind(3, measured.value);
  insert.bind(4, std::string(to_string(comparison.verdict)));
  insert.exec();
  const std::int64_t id = db.getLastInsertRowid();
  write_metrics(db, id, comparison.metrics);
  return id;
}

std::vector<ComparisonEntry> read_comparisons(SQLite::Database& db, RunId id) {
  SQLite::Statement query(db,
                          "SELECT id, created, predicted_run, measured_run, verdict FROM comparisons "
                          "WHERE predicted_run = ?1 OR measured_run = ?1 ORDER BY id DESC");
  query.bind(1, id.value);
  std::vector<ComparisonEntry> entries;
  while (query.executeStep()) {
    const std::int64_t comparison = query.getColumn(0).getInt64();
    entries.push_back({comparison, query.getColumn(1).getInt64(), RunId{query.getColumn(2).getInt64()},
                       RunId{query.getColumn(3).getInt64()}, verdict_of(query.getColumn(4).getString()),
                       read_metrics(db, comparison)});
  }
  return entries;
}

}  // namespace shardlab
