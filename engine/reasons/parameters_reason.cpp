#include "engine/reasons/parameters_reason.h"

#include <fmt/format.h>

#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"

namespace shardlab {

std::string initialize_text(const InstructionContext& c) {
  const Buffer& buffer = c.step.buffer(c.self().writes.front());
  if (buffer.buffer_class == BufferClass::reduce_buffer)
    return "Taken once, before the first step, and kept for the whole run.";
  const ModelSpec& model = c.is_teachers() ? *c.scenario().distillation->teacher.model : *c.scenario().model;
  const bool from_file = !model.weights.empty();
  return fmt::format("What this rank holds of {} is made in place, {}; it lives as long as the run.",
                     unit_text(c), from_file ? "read from the checkpoint" : "from the seed");
}

std::string gather_text(const InstructionContext& c) {
  std::string text = fmt::format("{} is spread over {} ranks", unit_text(c), group_size(c));
  const auto user = compute_user(c);
  if (!user) return text + ".";
  text += fmt::format("; {} needs its parameters whole.", label(c, *user));
  // With one buffer for gather and compute the freed one is what this allocates; else it is the copy that
  // compute reads.
  if (serves_backward(c)) {
    InstructionContext at = c;
    for (const InstructionId reader : readers_of(c.step, c.id)) {
      if (!is_compute(c.step.instruction(reader))) at.id = reader;
    }
    if (const auto freed = last_free_of_allocated(at))
      text += fmt::format(" They were there in forward and went in {}.", label(c, *freed));
  }
  const auto next = next_compute(c);
  if (next && *next != *user)
    text += fmt::format(" It is issued ahead of time, before {}, so that the two overlap.", label(c, *next));
  return text;
}

bool gathers_ahead_in_forward(const InstructionContext& c) {
  const auto user = compute_user(c), next = next_compute(c);
  return user && next && *user != *next && !serves_backward(c);
}

std::string last_use_text(const InstructionContext& c) {
  const auto last = last_user_of_freed(c);
  return last ? fmt::format("{} was the last to use it.", label(c, *last)) : "Nothing reads it any more.";
}

}  // namespace shardlab
