// Backtest: what a prediction says of runs that somebody else has published, row by row and added up.
//
// Plain values that simulator/backtest makes, the store keeps and reports show.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/trace/fit.h"

namespace shardlab {

enum class BacktestMetric : std::uint8_t { memory, time };
template <>
inline constexpr auto k_words<BacktestMetric> =
    std::to_array<Word<BacktestMetric>>({{BacktestMetric::memory, "memory"}, {BacktestMetric::time, "time"}});

// What a row is added up under: by "source", the key "pytorch/ao".
struct BacktestGroup {
  std::string by;
  std::string key;

  friend auto operator<=>(const BacktestGroup&, const BacktestGroup&) = default;
};

// One published figure and its prediction. A row that is not expressible has a reason and no prediction; one
// that is may have no prediction either, with the reason why the figure is not predicted.
struct BacktestRow {
  std::string id;
  std::string source;
  std::string series;  // rows of one series are not independent: one left-out source of bands
  std::string
      figure;  // as in a run's JSON: peak_allocated, tokens_per_second_per_gpu; empty: none, a verdict alone
  std::optional<double> published;  // bytes or tokens/s
  std::optional<double> predicted;
  std::optional<double> low;  // of the band, in the unit of the figure
  std::optional<double> high;
  std::optional<double> error;  // predicted / published - 1
  bool expressible = false;
  std::string reason;
  std::vector<std::string> nearest;  // what the scenario has instead of what the run had, in words
  std::vector<std::string> rules;    // that made the scenario, by name
  bool ran_out_of_memory = false;    // the published run did
  std::optional<Fit> fits;           // the predicted verdict
  std::vector<BacktestGroup> groups;

  friend bool operator==(const BacktestRow&, const BacktestRow&) = default;
};

// Errors of the rows of a group that have both figures; |error| but for the bias, which is the error of the
// geometric mean of predicted / published.
struct BacktestSummary {
  std::string by;  // "all", "source", "device", "strategy", "kind" ...
  std::string key;
  int rows = 0;         // in the group
  int expressible = 0;  // among the rows
  int n = 0;            // expressible rows with both figures; the errors are theirs
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double worst = 0;
  double bias = 0;
  int banded = 0;   // with a band and a published figure
  int in_band = 0;  // of these, those whose published figure lies in it

  friend bool operator==(const BacktestSummary&, const BacktestSummary&) = default;
};

// How many published runs of one outcome were predicted to fit, by Fit.
struct BacktestVerdicts {
  std::array<int, k_words<Fit>.size()> ran{};
  std::array<int, k_words<Fit>.size()> ran_out_of_memory{};

  friend bool operator==(const BacktestVerdicts&, const BacktestVerdicts&) = default;
};

struct Backtest {
  BacktestMetric metric = BacktestMetric::memory;
  std::string table;                  // the file of published runs
  std::vector<std::string> settings;  // that every scenario was changed by, as for --set
  bool has_bands = false;
  double band_part = 0.8;                // of the published figures, that a band should hold
  std::optional<double> within_bands;    // the part of the rows with a band whose published figure lies in it
  std::vector<BacktestRow> rows;         // in the order of the table
  std::vector<BacktestSummary> summary;  // "all" first, then by group
  BacktestVerdicts verdicts;

  friend bool operator==(const Backtest&, const Backtest&) = default;
};

}  // namespace shardlab
