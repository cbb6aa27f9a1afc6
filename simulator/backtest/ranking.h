// Whether predictions put published runs in the order in which they were, and say what one knob buys.
//
// Compared are rows without tensor, pipeline, context or expert parallelism, without adapters and without a
// doubt of the table's (FLAG), of which shape, sequence, micro-batch, GPU, count and throughput are known; of
// rows with equal settings one stands for all, none where they differ by 5 %. A pair is two of a group whose
// published tokens a second and GPU differ by at least 5 %.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/trace/backtest.h"
#include "simulator/backtest/published_table.h"

namespace shardlab {

// By what runs are put in order: our prediction; no offload, float8, compiled, the least checkpointing, the
// largest micro-batch, the fewest GPUs, the most micro-batches; or products at half the peak and bytes on the
// wires, one after the other (ranking_baselines.h).
enum class RankedBy : std::uint8_t { prediction, order, roofline };
template <>
inline constexpr auto k_words<RankedBy> = std::to_array<Word<RankedBy>>({{RankedBy::prediction, "prediction"},
                                                                         {RankedBy::order, "order"},
                                                                         {RankedBy::roofline, "roofline"}});

struct OrderScore {
  RankedBy by = RankedBy::prediction;
  int pairs = 0;           // that it orders
  int without = 0;         // of which it says nothing
  double in_order = 0;     // share of `pairs` as published; ties count half
  double mean_regret = 0;  // best published / published of the pick - 1, over groups with a pick
  double worst_regret = 0;
  double in_order_of_ours = 0;  // share of the pairs that have a prediction
};

// Runs of one source, framework, version, model, sequence and GPU.
struct RankedGroups {
  bool same_count = true;  // of GPUs as well
  int groups = 0, configurations = 0, pairs = 0;
  std::vector<OrderScore> scores;  // by RankedBy
};

// What a knob buys: |log predicted ratio / log published ratio - 1| over pairs that differ in one knob;
// accumulation may follow another knob.
struct KnobScore {
  RankedBy by = RankedBy::prediction;
  int pairs = 0, without = 0;
  double median = 0;
  int medians = 0;  // by knob and source, of two pairs or more
  double median_of_medians = 0;
};
struct KnobLine {
  std::string knob;  // a column
  int pairs = 0;
  std::optional<double> prediction, roofline;  // median error
};

struct RankingTarget {
  std::string what;
  double value = 0, bound = 0;
  bool at_least = false;  // else at most
  bool is_share = true;   // else a count
  bool met() const { return at_least ? value >= bound : value <= bound; }
};

struct Ranking {
  int rows = 0;
  std::vector<RankedGroups> groups;  // of the same count, of any
  int knob_pairs = 0;
  std::vector<KnobLine> knobs;       // most pairs first
  std::vector<KnobScore> scores;     // of prediction and roofline
  int ran = 0, said_not_to_fit = 0;  // runs of the scope that ran and whose speed is predicted
  std::vector<RankingTarget> targets;
};

// `backtest` is one of time over the same table.
Ranking rank_published(const PublishedTable& table, const Backtest& backtest);

}  // namespace shardlab
