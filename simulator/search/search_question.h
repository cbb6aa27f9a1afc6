// What somebody wants to know who is about to rent GPUs: which scenario, what may vary, what must hold, what
// is offered at which price, what is to be trained. A search file is read to it (read_question.h).
//
// A plain value; it holds every choice of every knob, not the combinations (search_space.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/base/words.h"
#include "engine/scenario/scenario.h"
#include "engine/trace/summary_figure.h"

namespace shardlab {

// What an answer is the best of. gpus: the fewest, of these the fastest; batch: the most sequences a rank
// takes at once, of these the fastest.
enum class SearchObjective : std::uint8_t { time, money, gpus, batch };
template <>
inline constexpr auto k_words<SearchObjective> =
    std::to_array<Word<SearchObjective>>({{SearchObjective::time, "time"},
                                          {SearchObjective::money, "money"},
                                          {SearchObjective::gpus, "gpus"},
                                          {SearchObjective::batch, "batch"}});

// The scenario around which is searched, as text so that settings are applied to it as `--set` does.
struct BaseScenario {
  std::string text;
  std::string file;
  std::vector<std::string> overrides;  // of the command line
  Scenario scenario;                   // read with them
};

// One value of a knob: settings as for --set, and how a table says it.
struct Choice {
  std::vector<std::string> settings;
  std::string shown;
  bool standard = false;  // leaves the scenario as it is
};

struct Knob {
  std::string key;  // "train.micro_batch"; of the offers "cluster"
  std::vector<Choice> choices;
};

// A metric of a run (docs/glossary.md) with its bounds, in the metric's own unit: nanoseconds, bytes ...
struct MetricNeed {
  std::string metric;
  MetricUnit unit = MetricUnit::nanoseconds;
  std::optional<double> least, most;
};

struct Needs {
  double fit_probability = 0.9;
  std::optional<std::int64_t> gpus;  // at most, like the next two
  std::optional<double> hours, dollars;
  std::vector<MetricNeed> metrics;
};

// Nodes that can be rented, whole ones.
struct Offer {
  std::string node;
  std::vector<int> nodes;       // how many, ascending
  std::optional<double> price;  // dollars an hour of one node
  std::string date, source;     // of the price
};

// How often something breaks, and what that costs (training_time.h).
struct Failures {
  double count = 0;
  double days = 0;  // in which so many failures were counted: of one GPU, or of one node
  bool of_nodes = false;
  std::string source;
  Nanoseconds checkpoint, downtime, recovery;
};

struct Training {
  std::optional<std::int64_t> tokens;
  std::optional<Failures> failures;
};

struct SearchQuestion {
  std::string file;
  BaseScenario base;
  std::vector<Knob> knobs;                   // the offers' among them
  bool knobs_chosen = false;                 // by the program: the file has no `vary`
  std::optional<std::int64_t> global_batch;  // kept: accumulation follows
  Needs needs;
  std::vector<Offer> offers;
  Training training;
  SearchObjective objective = SearchObjective::time;
};

}  // namespace shardlab
