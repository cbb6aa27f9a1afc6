// Traces of torch.profiler as a run of shardlab's: a plan of what ran, and when it ran in each step.
//
// The plan is made from the trace: an instruction a kernel (without a device: an outermost operator), named
// by a unit, with the kind that the host was in when it launched it (Forward, Backward, OptimizerStep ...) or
// that NCCL's name says. What a step does for the first, second ... time on a lane is one instruction in all
// steps and ranks. So totals, kinds and memory compare with a prediction; its instructions correspond to
// those of another imported trace of the same program only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/profiler/profiler_trace.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// StepPlan::strategy of an imported plan.
inline constexpr std::string_view k_imported_strategy = "profiler";
// What a run leaves out (provenance) whose memory is counted from where the profile began.
inline constexpr std::string_view k_memory_before = "memory that was allocated before the profile began";

struct ImportedProfile {
  std::string name;  // of the first file, without its endings
  RunPlan plan;      // setup and first do nothing
  RunTrace trace;    // measured; what a profiler cannot know is in Provenance::leaves_out
  std::optional<Bytes> memory_limit;
};

// A file a rank, in any order. Errors are bad_input: those of read_profiler_trace(), a trace in which nothing
// ran, two files of one rank.
Result<ImportedProfile> import_profiles(const std::vector<std::filesystem::path>& files);

// The run that these traces are of; `names` stand for them in errors.
Result<ImportedProfile> import_profiles(const std::vector<ProfilerTrace>& traces,
                                        const std::vector<std::string>& names);

}  // namespace shardlab
