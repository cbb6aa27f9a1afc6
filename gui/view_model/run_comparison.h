// Two or more runs side by side: what the Compare panel shows.
//
// One run is the reference, usually a measured one; every error is other / reference - 1. Runs of one plan
// are compared instruction by instruction; of different plans only totals, classes, kinds and units.
#pragma once

#include <string>
#include <vector>

#include "gui/view_model/data_table.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

// One instruction in a run and in the reference.
struct ScatterPoint {
  std::size_t run = 0;  // in the list that was compared
  InstructionId instruction;
  InstructionKind kind = InstructionKind::Marker;
  Nanoseconds time;       // in this run
  Nanoseconds reference;  // positive
  double error = 0;       // time / reference - 1
};

struct RunComparison {
  std::vector<std::string> titles;  // of the runs, in their order
  std::size_t reference = 0;
  DataTable totals;                  // a row a metric
  DataTable classes;                 // a row a class of memory at the peak
  DataTable kinds;                   // a row a kind of instruction: time on its stream in a step
  DataTable units;                   // a row a unit, likewise
  DataTable worst;                   // the instructions that differ most from the reference, with the reason
  std::vector<ScatterPoint> points;  // of all runs that follow the reference's plan, but the reference
  std::string note;                  // why instructions are not compared; empty when they are
};

// The measured run that stands first, else the baseline, else the first.
std::size_t choose_reference(const std::vector<LoadedRunPtr>& runs);

// `runs` must not be empty nor hold null; `reference` < runs.size().
RunComparison compare_runs(const std::vector<LoadedRunPtr>& runs, std::size_t reference);

}  // namespace shardlab::view
