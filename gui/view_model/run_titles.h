// What runs are called where several stand side by side.
#pragma once

#include <string>
#include <vector>

#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

// "r12 tiny-llama fsdp1, predicted", by its scenario; "baseline tiny-llama fsdp2, predicted".
std::string title_of(const LoadedRun& run);

// The same of each; runs of one scenario also say in which settings they differ from the first of them:
// "tiny-llama fsdp2, predicted (train.micro_batch 8)". Reads the scenarios' texts: not for every frame.
std::vector<std::string> titles_of(const std::vector<LoadedRunPtr>& runs);

}  // namespace shardlab::view
