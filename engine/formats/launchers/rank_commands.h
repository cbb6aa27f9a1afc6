// The commands of a script that start the ranks of a training.
//
// Source: torch 2.11, accelerate 1.15.0 and DeepSpeed 0.19.8 for their launchers; LLaMA-Factory 0.9, Axolotl
// 0.18, ms-swift 4 and TRL 1.0 for the commands with which programs start themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/words.h"
#include "engine/formats/launchers/shell_commands.h"

namespace shardlab {

enum class RankStarter : std::uint8_t { torchrun, accelerate, deepspeed, own };
template <>
inline constexpr auto k_words<RankStarter> =
    std::to_array<Word<RankStarter>>({{RankStarter::torchrun, "torchrun"},
                                      {RankStarter::accelerate, "accelerate"},
                                      {RankStarter::deepspeed, "deepspeed"},
                                      {RankStarter::own, "own"}});

struct RankCommand {
  ShellCommand command;
  RankStarter launcher = RankStarter::torchrun;
  std::string program;    // of `own`: "swift", "llamafactory-cli", "trl", or "python" for one rank
  std::size_t first = 0;  // word: the launcher's first option, of `own` the program's first argument
  std::vector<ShellWord> before =
      {};  // the words until then, those of a command around it first: srun, -N, 2

  const Place& place() const { return command.words[first - 1].place; }
};

// In the order of the script, each once; what is printed (echo) starts nothing. A program that python runs
// with TrainingArguments counts where nothing else starts ranks. `name` stands for the script in places.
std::vector<RankCommand> rank_commands(const ShellScript& shell, std::string_view name);

}  // namespace shardlab
