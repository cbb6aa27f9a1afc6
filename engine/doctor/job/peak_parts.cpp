#include "engine/doctor/job/peak_parts.h"

#include <fmt/format.h>

#include "engine/base/chance.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

std::string parts_words(const PeakParts& parts) {
  return fmt::format("activations {}, gathered {}, states {}", to_string(parts.activations),
                     to_string(parts.gathered), to_string(parts.states));
}

std::string parts_text(const RunSummary& run) {
  const std::string text = fmt::format("{} live in {}: {}", to_string(run.memory->peak_allocated),
                                       run.memory->peak_label, parts_words(peak_parts(*run.memory)));
  if (!run.memory->teacher) return text;
  const TeacherMemory& teacher = *run.memory->teacher;
  return fmt::format("{}; of it the teacher's: parameters {}, gathered {}, logits {}", text,
                     to_string(teacher.parameters), to_string(teacher.gathered), to_string(teacher.logits));
}

std::string words_of(MemoryCause cause) {
  switch (cause) {
    case MemoryCause::giant_unit: return "one unit holds most of the model and is gathered at once";
    case MemoryCause::fragmentation: return "much of it lies in gaps between blocks";
    case MemoryCause::activations: return "activations dominate the peak";
    case MemoryCause::batch: return "activations dominate the peak though layers are computed again";
    case MemoryCause::gathered: return "gathered units and their buffers dominate the peak";
    case MemoryCause::states: return "parameters, gradients and optimizer states dominate the peak";
    case MemoryCause::replicated: return "every rank holds all states, which dominate the peak";
    case MemoryCause::stage:
      return "states dominate the peak, and a ZeRO stage below 3 shards only a part of them";
  }
  return {};
}

std::string need_text(const RunSummary& run) {
  const std::string need =
      fmt::format("{} on devices of {}", to_string(need_of(run)), to_string(*run.memory_limit));
  if (!run.fit_probability || room_of(run) == Room::none) return need;
  return fmt::format("{}; steps run with {}", need, chance(*run.fit_probability));
}

}  // namespace

PeakParts peak_parts(const MemorySummary& memory) {
  PeakParts parts;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    switch (static_cast<BufferClass>(i)) {
      case BufferClass::activation:
      case BufferClass::activation_gradient:
      case BufferClass::workspace:
      case BufferClass::batch: parts.activations += memory.by_class[i]; break;
      case BufferClass::gathered_parameters:
      case BufferClass::gather_buffer:
      case BufferClass::reduce_buffer: parts.gathered += memory.by_class[i]; break;
      default: parts.states += memory.by_class[i];
    }
  }
  return parts;
}

std::string shortage_words(const RunSummary& run) {
  const auto shortage = shortage_of(run);
  if (!shortage) return run.fit_reason.value_or("it still does not fit");
  const std::string text = fmt::format("still {} too much; what is left: {}", to_string(*shortage),
                                       parts_words(peak_parts(*run.memory)));
  const Bytes beside = need_of(run) - run.memory->peak_allocated;
  return beside > Bytes{} ? fmt::format("{}, {} beside the tensors", text, to_string(beside)) : text;
}

double idle_share(const RunSummary& run) {
  if (!run.memory || !run.memory->peak_reserved || !run.memory_limit) return 0;
  return static_cast<double>((*run.memory->peak_reserved - run.memory->peak_allocated).value) /
         static_cast<double>(run.memory_limit->value);
}

MemoryCause memory_cause(const Case& facts) {
  constexpr double k_fragmented = 0.15;
  const JobFacts& job = *facts.job;
  const RunSummary& run = *job.predicted;
  if (giant_unit(*job.planned)) return MemoryCause::giant_unit;
  if (idle_share(run) > k_fragmented && run.memory->peak_allocated < *run.memory_limit)
    return MemoryCause::fragmentation;
  const PeakParts parts = peak_parts(*run.memory);
  if (parts.states >= parts.activations && parts.states >= parts.gathered) {
    const StrategyFacts& strategy = facts_of(*job.scenario);
    if (strategy.framework == Framework::deepspeed && strategy.zero_stage < 3) return MemoryCause::stage;
    const bool replicated = replicates_state(*job.scenario) && job.planned->plan.steady.world_size > 1;
    return replicated ? MemoryCause::replicated : MemoryCause::states;
  }
  if (parts.gathered >= parts.activations) return MemoryCause::gathered;
  const bool kept = job.scenario->activation->checkpoint == ActivationCheckpoint::none;
  return kept ? MemoryCause::activations : MemoryCause::batch;
}

bool lacks_memory(const Case& facts) {
  const RunSummary& run = *facts.job->predicted;
  return run.memory && (steps_do_not_fit(run) || room_of(run) == Room::tight);
}

Finding memory_finding(const Rule& rule, const Case& facts, std::optional<MemoryCause> cause,
                       std::vector<Remedy> remedies) {
  const RunSummary& run = *facts.job->predicted;
  const bool lacks = lacks_memory(facts);
  const bool fails = steps_do_not_fit(run);
  Finding finding = finding_of(rule);
  finding.goal = Goal::fit;
  finding.remedies = std::move(remedies);
  finding.takes_all_remedies = lacks && cause == memory_cause(facts);
  finding.needs_a_fix = !finding.takes_all_remedies;
  finding.certainty = finding.takes_all_remedies ? 95 : 60;
  finding.severity = Severity::info;
  if (finding.takes_all_remedies) finding.severity = fails ? Severity::error : Severity::warning;
  if (lacks) {
    finding.message = fmt::format(
        "{}: {}; {}.", fails ? "It does not fit" : "It only just fits", need_text(run),
        finding.takes_all_remedies ? words_of(*cause) : "this takes less, by itself or with others");
  }
  finding.evidence = {evidence_of_figure(facts, "peak", parts_text(run))};
  finding.evidence.front().instruction = run.memory->peak_instruction;
  return finding;
}

}  // namespace shardlab
