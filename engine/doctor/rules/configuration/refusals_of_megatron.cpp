// What Megatron and other programs refuse whose parallel sizes must multiply
// (megatron/core/parallel_state.py).
#include "engine/doctor/rules/configuration/refusals.h"

namespace shardlab {
namespace {

constexpr std::string_view k_sizes =
    "The parallel sizes do not fit: their product does not divide the number of ranks, or one of them does "
    "not divide what it cuts.";
constexpr std::string_view k_fitting_sizes =
    "sizes of tensor, pipeline, context, expert and data parallelism whose product is the number of ranks "
    "that were started, and that divide heads, layers and sequence";

LogSign of_sizes(std::string_view pattern, int certainty = 84) {
  return {.pattern = pattern, .certainty = certainty, .message = k_sizes, .fix = k_fitting_sizes};
}

}  // namespace

std::vector<LogSign> refusals_of_megatron() {
  return {
      of_sizes("world_size (*) is not divisible by", 88),
      of_sizes("world size*must be divisible by the product of all parallel degrees", 88),
      {.pattern = "error: *divisible by*parallel",
       .certainty = 84,
       .unless = {"batch size"},
       .message = k_sizes,
       .fix = k_fitting_sizes},
      of_sizes("assertionerror: *is not divisible by", 58),
      of_sizes("num_attention_heads*must be a multiple of tensor_model_parallel_size", 88),
      of_sizes("cannot use sequence parallelism without tensor parallelism", 88),
      of_sizes("is not divisible by*model_parallel_size", 82),
      {.pattern = "assertionerror", .certainty = 66, .frame = "megatron*arguments.py*validate_args"},
  };
}

}  // namespace shardlab
