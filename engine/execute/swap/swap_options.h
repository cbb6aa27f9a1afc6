// What a drive may be asked for, and which mechanism answers.
#pragma once

#include <memory>
#include <string>

#include "engine/execute/swap/swap_drive.h"
#include "engine/execute/swap/swap_engine.h"

namespace shardlab {

// bad_input names the option that is wrong.
Status check_swap_options(const SwapOptions& options);

struct ChosenEngine {
  std::unique_ptr<SwapEngine> engine;
  std::string description;  // with the reason where it is not what was preferred
};

// not_possible where the mechanism that was asked for is missing. Throws std::system_error where the machine
// has no thread left.
Result<ChosenEngine> choose_swap_engine(const SwapOptions& options);

}  // namespace shardlab
