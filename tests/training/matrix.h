// Settings in combination, and the single process that each combination is compared with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/planner/plan_scenario.h"
#include "tests/training/local_run.h"

namespace shardlab::test {

struct Dimension {
  std::vector<std::string> values;   // each a list of overrides, separated by blanks
  bool changes_mathematics = false;  // the single process has the setting, too
  std::size_t in_full_matrix = 1;    // how many of them, from the first, the full matrix takes
};

const std::vector<Dimension>& dimensions();

using Choice = std::vector<std::size_t>;  // by dimension

std::vector<std::string> overrides_of(const Choice& choice);
std::string name_of(const Choice& choice);
// A plan of the small model with a global batch of 12 sequences, however it is spread.
Result<PlannedScenario> planned(const Choice& choice);
Result<PlannedScenario> planned(const std::vector<std::string>& overrides, int ranks, int accumulation);

// How far the worst combination was from the single process.
struct WorstDifference {
  double gradient = 0, loss = 0;
};

// Trains combinations and compares them; references are made once.
class MatrixRun {
 public:
  // Catch assertions inside.
  void check(const Choice& choice);
  const WorstDifference& worst() const { return worst_; }

 private:
  // A single process, and how far its gradients move when the same sums are made in another order.
  struct Reference {
    Trained whole;
    double order = 0;
  };
  const Reference& reference(const Choice& choice);

  std::map<std::string, Reference> references_;  // by what changes the mathematics
  WorstDifference worst_;
};

}  // namespace shardlab::test
