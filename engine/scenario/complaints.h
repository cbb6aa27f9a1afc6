// What the parts of validation share: the scenario, the places of its keys, and the list of complaints.
#pragma once

#include <string>

#include "engine/scenario/problems.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {

struct Complaints {
  const Scenario& scenario;
  const ScenarioSource& source;
  Problems& problems;
  bool teacher = false;  // `scenario` is teacher_scenario() of the one that was read

  void refuse(const std::string& key, const std::string& what, const std::string& hint = {}) {
    problems.add(source.place(written(key)), what, hint);
  }
  bool given(const std::string& key) const { return source.given(written(key)); }
  std::string written(const std::string& key) const { return teacher ? teacher_key(key) : key; }
  void require(bool given, const std::string& key, const std::string& hint = {}) {
    if (!given) refuse(key, "is required", hint);
  }
};

// The parts of validate_scenario.
void validate_model(Complaints& complaints);
void validate_distillation(Complaints& complaints);  // needs all others to have been asked
void validate_cluster(Complaints& complaints);
void validate_mesh(Complaints& complaints);      // needs a valid cluster
void validate_strategy(Complaints& complaints);  // needs a valid mesh
void validate_parallel(Complaints& complaints, const std::string& path, const ParallelSpec& parallel);
void validate_training(Complaints& complaints);
void validate_offload(Complaints& complaints);
void validate_precision(Complaints& complaints);

}  // namespace shardlab
