#include <fmt/format.h>

#include <algorithm>

#include "engine/report/figures.h"
#include "engine/trace/metrics.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

struct Definition {
  std::string_view metric;
  std::string_view formula;
  std::vector<std::string> settings;
};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> k_definitions = {
      {"step_time",
       "from the first instruction issued by any rank to the end of the last one on any rank; the median of "
       "the steady steps",
       {"train.micro_batch", "train.accumulation", "model.sequence_length", "cluster", "parallel.strategy"}},
      {"exposed_communication",
       "time in which the compute stream is idle and waits, directly or through other instructions, for "
       "communication; the mean over ranks, the median over steps",
       {"parallel.prefetch", "parallel.wrap", "parallel.mesh", "train.micro_batch"}},
      {"tokens_per_second",
       "tokens whose loss is computed, of all ranks and micro-batches, divided by the step time",
       {"train.micro_batch", "train.accumulation", "model.sequence_length", "cluster"}},
      {"mfu",
       "model FLOPs per second divided by the device's dense peak for the compute dtype; recomputation and "
       "embeddings do not count",
       {"precision.param", "train.micro_batch", "model.sequence_length"}},
      {"peak_allocated",
       "the highest sum of the bytes of live tensors within a step, on the rank and in the step where it is "
       "highest",
       {"train.micro_batch", "model.sequence_length", "parallel.strategy", "parallel.reshard_after_forward",
        "activation.checkpoint"}},
      {"peak.",
       "what of the peak belongs to this class of buffer",
       {"parallel.strategy", "precision", "train.micro_batch"}},
      {"communication.",
       "payload of one rank in one step: the full side of each collective of this kind, added up",
       {"parallel.strategy", "parallel.mesh", "precision.param", "precision.reduce", "train.accumulation"}}};
  return k_definitions;
}

const Definition* definition_of(std::string_view metric) {
  for (const Definition& each : definitions()) {
    if (each.metric == metric || (each.metric.ends_with('.') && metric.starts_with(each.metric)))
      return &each;
  }
  return nullptr;
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  return text;
}

void add_step_time(Why& why, const RunSummary& run) {
  why.parts.push_back(
      {"median of", fmt::format("{} step{}", run.step_time.n, run.step_time.n == 1 ? "" : "s")});
  why.parts.push_back({"least", to_string(run.step_time.min)});
  why.parts.push_back({"most", to_string(run.step_time.max)});
}

void add_tokens(Why& why, const RunSummary& run) {
  const double seconds = static_cast<double>(run.step_time.median.value) / 1e9;
  why.parts.push_back({"tokens of a step", rate(run.tokens_per_second * seconds)});
  why.parts.push_back({"step time", to_string(run.step_time.median)});
  why.parts.push_back({"of each rank", rate(run.tokens_per_second_per_gpu)});
}

void add_peak(Why& why, const RunSummary& run) {
  const MemorySummary& memory = *run.memory;
  why.parts.push_back({"highest in", memory.peak_label, memory.peak_instruction});
  why.parts.push_back({"rank and step", fmt::format("{} and {}", memory.peak_rank, memory.peak_step)});
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    if (memory.by_class[i].value == 0) continue;
    why.parts.push_back({with_spaces(to_string(static_cast<BufferClass>(i))), to_string(memory.by_class[i])});
  }
  if (run.memory_limit) why.parts.push_back({"a rank may use", to_string(*run.memory_limit)});
}

void add_communication(Why& why, const RunSummary& run, std::string_view kind) {
  for (const CommunicationTotal& total : run.communication) {
    if (to_string(total.kind) != kind) continue;
    why.parts.push_back(
        {fmt::format("{} of {} ranks", total.count, total.group_size), to_string(total.bytes)});
  }
}

void add_parts(Why& why, const RunSummary& run, std::string_view metric) {
  if (metric == "step_time") add_step_time(why, run);
  if (metric == "tokens_per_second") add_tokens(why, run);
  if (metric == "exposed_communication")
    why.parts.push_back(
        {"of the step", percent(static_cast<double>(run.exposed_communication.value) /
                                static_cast<double>(std::max<std::int64_t>(run.step_time.median.value, 1)))});
  if (metric == "mfu") why.parts.push_back({"step time", to_string(run.step_time.median)});
  if ((metric == "peak_allocated" || metric.starts_with("peak.")) && run.memory) add_peak(why, run);
  constexpr std::string_view k_communication = "communication.";
  if (metric.starts_with(k_communication)) add_communication(why, run, metric.substr(k_communication.size()));
}

void add_notes(Why& why, const LoadedRun& run) {
  const Provenance& from = run.record.trace.provenance;
  if (from.kind == RunKind::measured) {
    why.notes.push_back(fmt::format("measured on {}", from.machine));
    return;
  }
  why.notes.push_back(from.calibrated ? fmt::format("predicted, calibrated by {}", from.calibration)
                                      : "predicted from published figures: not calibrated");
  for (const std::string& each : from.leaves_out) why.notes.push_back("leaves out " + each);
}

}  // namespace

std::optional<Why> why_metric(const LoadedRun& run, std::string_view metric) {
  const Definition* definition = definition_of(metric);
  const RunSummary& summary = run.record.summary;
  const std::vector<Metric> figures = summary_metrics(summary, summary, {{std::string(metric), 0}});
  const auto figure = std::find_if(figures.begin(), figures.end(),
                                   [metric](const Metric& each) { return each.name == metric; });
  if (definition == nullptr || figure == figures.end() || !figure->predicted) return std::nullopt;
  Why why{fmt::format("{} of {}", with_spaces(metric), title_of(run)),
          metric_figure(figure->predicted, figure->unit),
          std::string(definition->formula),
          {},
          definition->settings,
          {}};
  add_parts(why, summary, metric);
  add_notes(why, run);
  return why;
}

std::string to_text(const Why& why) {
  std::string text = fmt::format("{}: {}\n{}\n", why.title, why.value, why.formula);
  for (const WhyPart& part : why.parts) text += fmt::format("  {}: {}\n", part.label, part.value);
  for (const std::string& key : why.settings)
    text += fmt::format("{}{}", &key == &why.settings.front() ? "settings: " : ", ", key);
  if (!why.settings.empty()) text += '\n';
  for (const std::string& note : why.notes) text += note + '\n';
  return text;
}

}  // namespace shardlab::view
