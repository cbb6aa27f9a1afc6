// What the parts of validation share: the scenario, the places of its keys, and the list of complaints.
#pragma once

#include <string>

#include "engine/scenario/problems.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"

namespace shardlab {

struct Complaints {
  const Scenario& scenario;
  const ScenarioSource& source;
  Problems& problems;

  void refuse(const std::string& key, const std::string& what, const std::string& hint = {}) {
    problems.add(source.where(key), key + ": " + what, hint);
  }
  void require(bool given, const std::string& key, const std::string& hint = {}) {
    if (!given) refuse(key, "is required", hint);
  }
};

// The parts of validate_scenario.
void validate_models(Complaints& complaints);
void validate_cluster(Complaints& complaints);
void validate_mesh(Complaints& complaints);  // needs a valid cluster
void validate_sharding(Complaints& complaints);  // needs a valid mesh
void validate_parallel(Complaints& complaints, const std::string& path, const ParallelSpec& parallel);
void validate_training(Complaints& complaints);
void validate_precision(Complaints& complaints);

}  // namespace shardlab
