// The best configurations of a search beside their real runs: whether they come in the predicted order, what
// the pick loses, and their order by what was measured. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/terminal.h"
#include "simulator/search/leaders.h"
#include "simulator/search/search.h"

namespace shardlab {

// The best that satisfy, in the order's order; of equal predictions the one nearest to the scenario alone.
std::vector<Candidate> best_of(const Order& order, const SearchResult& result, std::size_t count);

struct MeasuredCandidate {
  Candidate candidate;
  std::optional<Nanoseconds> step_time;  // measured, the median
  std::string run;                       // "r12", or why there is none
};

struct MeasuredRanking {
  std::vector<MeasuredCandidate> rows;          // in the predicted order
  std::vector<std::size_t> order;               // of those measured, by what was measured
  std::vector<std::optional<double>> measured;  // what the order compares, reckoned with the measured step
  int pairs = 0, in_order = 0;                  // of those measured, whose measured figures differ by 10 %
  std::optional<double> regret;                 // of the first that was measured over the best of them
};

// The measured cost is reckoned as the predicted one, with measured steps; a first step is as much longer.
MeasuredRanking rank_measured(const SearchQuestion& question, const Order& order,
                              std::vector<MeasuredCandidate> rows);

std::string measured_ranking_text(const SearchQuestion& question, const Order& order,
                                  const MeasuredRanking& ranking, const TextStyle& style);
nlohmann::ordered_json measured_ranking_json(const Order& order, const MeasuredRanking& ranking);

}  // namespace shardlab
