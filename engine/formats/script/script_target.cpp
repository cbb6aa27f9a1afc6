#include "engine/formats/script/script_target.h"

#include <fmt/format.h>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/formats/script/script_places.h"
#include "engine/formats/script/script_units.h"
#include "engine/formats/tools/comment_block.h"
#include "engine/formats/tools/program_rules.h"

namespace shardlab {
namespace {

constexpr std::string_view k_program = R"py(#!/usr/bin/env python3
@HEAD@"""Trains @STEM@: @HOW@.

    torchrun @LAUNCH@ @STEM@.train.py
"""
)py";

TargetRefusal refuses(const ExportSubject& subject) {
  if (framework(subject) == Framework::shardlab)
    return {"this schedule is shardlab's own, PyTorch has none like it"};
  if (subject.scenario.distillation) return {"programs with a teacher are not written yet", "distillation"};
  if (!is_fsdp(subject)) return {};
  const auto units = script_units(subject);
  if (units) return {};
  return {units.error().what, "parallel.wrap"};
}

std::string launch_words(const ExportSubject& subject) {
  if (nodes(subject) == 1) return fmt::format("--standalone --nproc-per-node={}", ranks_per_node(subject));
  return fmt::format("--nnodes={} --nproc-per-node={} --rdzv-backend=c10d --rdzv-endpoint=HEAD:29500",
                     nodes(subject), ranks_per_node(subject));
}

std::string program_of(const ExportSubject& subject, std::span<const std::string> head) {
  const std::string sharding = script_sharding(subject);
  // DeepSpeed's engine is made with the optimizer.
  const std::string optimizer = script_optimizer(subject);
  const std::string body = script_constants(subject) + script_record(subject) + script_batches(subject) +
                           script_model(subject) + script_checkpointing(subject) +
                           (by_deepspeed(subject) ? optimizer + sharding : sharding + optimizer) +
                           script_step(subject) + script_main(subject);
  return filled(k_program, {{"HEAD", comment_block(head)},
                            {"STEM", subject.stem},
                            {"HOW", sharding_words(subject)},
                            {"LAUNCH", launch_words(subject)}}) +
         script_imports(body) + body;
}

std::vector<ExportedFile> write(const ExportSubject& subject, std::span<const std::string> head) {
  return {{subject.stem + ".train.py", program_of(subject, head), true}};
}

}  // namespace

ExportTarget script_target() {
  return {"script",
          "torch 2.11",
          "a training program in Python",
          refuses,
          {{script_places(), nullptr}},
          {script_rules(), unspoken_rules()},
          write};
}

}  // namespace shardlab
