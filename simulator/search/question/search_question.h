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
  std::optional<double> hours, dollars, dollars_per_hour;
  std::vector<MetricNeed> metrics;
};

// How often something ends: so many times in so many days of one GPU, or of one node.
struct EventRate {
  double count = 0;
  double days = 0;
  bool of_nodes = false;
  std::string source;
};

// Nodes that can be rented, whole ones: of a name, or of so many GPUs of a name.
struct Offer {
  std::string node;             // its name, or the GPU's where the node is described
  std::vector<int> nodes;       // how many, ascending
  std::optional<double> price;  // dollars an hour of one node
  std::string date, source;     // of the price
  bool described = false;       // by the next two
  int gpus_per_node = 0;
  std::optional<double> network;           // Gbit/s a GPU, one direction
  std::optional<EventRate> interruptions;  // of a spot offer
};

// "dgx-h100", "8 x H100-SXM", "dgx-h100 (spot)".
std::string offer_name(const Offer& offer);

// What several of its nodes need beside `cluster.nodes`: "cluster.inter_node_gbps_per_gpu=400". Empty for
// nodes of a name.
std::string network_setting(const Offer& offer);

// How often something breaks, and what that costs (training_time.h).
struct Failures {
  EventRate rate;
  Nanoseconds checkpoint, downtime, recovery;
};

// So many micro-batches of every rank, forward alone, after every so many steps.
struct Evaluation {
  std::int64_t every = 0, batches = 0;
};

// What the devices draw: computed always, charged where a price is given.
struct Energy {
  double overhead = 1.2;        // power usage effectiveness: what the building draws beside
  std::optional<double> price;  // dollars a kilowatt-hour
  std::string date, source;     // of the price
};

struct Training {
  std::optional<std::int64_t> tokens;
  std::optional<Failures> failures;
  std::optional<Evaluation> evaluation;
  Energy energy;
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
