// All combinations of a question's knobs, one by one: by a number, never as a list.
//
// Immutable after its construction, so threads may share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"
#include "simulator/search/knob_subset.h"
#include "simulator/search/question/search_question.h"

namespace shardlab {

// One combination. `settings` are those of its choices, and the accumulation that keeps the global batch.
struct Configuration {
  std::uint64_t index = 0;
  std::vector<std::size_t> choices;  // by knob
  std::vector<std::string> settings;
  const Offer* offer = nullptr;  // lives as long as the question; null without offers
  int gpus = 0;                  // 0: the settings name no cluster that is known
  int nodes = 1;
  std::string node;  // its name; empty where the cluster is described or of processors
  double watts = 0;  // of a GPU's data sheet; 0: unknown
  std::int64_t micro_batch = 1;
  std::int64_t accumulation = 1;
  bool divides = true;  // whether micro-batches and ranks divide the global batch
  int changes = 0;      // knobs that are not as the scenario has them
};

class SearchSpace {
 public:
  // bad_input: more combinations than anybody waits for. `question` must outlive the space.
  static Result<SearchSpace> of(const SearchQuestion& question);

  std::uint64_t size() const { return all_.size(); }
  Configuration at(std::uint64_t index) const;
  // The same for settings of somebody's own on top of the combination's: --why, or a knob one step away.
  Configuration with(std::uint64_t index, const std::vector<std::string>& settings) const;

  // The settings that these choices stand for, without the accumulation that keeps the batch.
  std::vector<std::string> settings_of(const std::vector<std::size_t>& choices) const;

  // Offers, each with its number of nodes, over whose ranks none of the micro-batches divides the global
  // batch: "4 x hgx-h100".
  std::vector<std::string> offers_beyond_batch() const;

  const SearchQuestion& question() const { return *question_; }

 private:
  SearchSpace() = default;
  Configuration chosen(std::vector<std::size_t> choices) const;
  void finish(Configuration& configuration) const;

  struct Cluster {
    int gpus = 0, nodes = 1;
    std::string node;
    double watts = 0;
  };

  const SearchQuestion* question_ = nullptr;
  YamlNode tree_;
  KnobSubset all_, clusters_, trainings_;
  std::vector<Cluster> cluster_of_;  // by number of clusters_
  struct Steps {
    std::int64_t micro_batch = 1, accumulation = 1;
  };
  std::vector<Steps> steps_of_;  // by number of trainings_

  const Offer* offer_of(const std::string& node) const;
  static void set_cluster(Configuration& configuration, const Cluster& cluster);
  Result<Cluster> cluster_with(const std::vector<std::string>& settings) const;
  std::int64_t number_with(const std::vector<std::string>& settings, std::string_view key) const;
};

}  // namespace shardlab
