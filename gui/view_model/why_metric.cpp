#include <fmt/format.h>

#include <algorithm>

#include "engine/base/with_spaces.h"
#include "engine/report/figures.h"
#include "engine/report/model_flops.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/trace/exposed_communication.h"
#include "engine/trace/known_classes.h"
#include "engine/trace/metrics.h"
#include "engine/trace/step_time.h"
#include "gui/view_model/run_titles.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

constexpr std::string_view k_communication = "communication.", k_class = "peak.";

double number(Nanoseconds time) {
  return static_cast<double>(time.value);
}
double number(Bytes bytes) {
  return static_cast<double>(bytes.value);
}

// A figure of every step; the run's is their median.
template <typename OfStep>
void add_steps(Why& why, const LoadedRun& run, OfStep of_step) {
  why.arithmetic = Arithmetic::median;
  for (const StepTrace& step : run.record.trace.steps) {
    const Nanoseconds time = of_step(step);
    why.parts.push_back({fmt::format("step {}", step.step), to_string(time), {}, number(time)});
  }
}

Nanoseconds exposed_in(const StepPlan& plan, const StepTrace& step) {
  Nanoseconds sum;
  for (const RankTrace& rank : step.ranks) sum += exposed_communication(plan, rank);
  return sum / static_cast<std::int64_t>(std::max<std::size_t>(step.ranks.size(), 1));
}

void add_exposed(Why& why, const LoadedRun& run) {
  add_steps(why, run, [&](const StepTrace& step) { return exposed_in(run.plan(), step); });
  const RunSummary& summary = run.record.summary;
  if (summary.exposed_communication.value < 0) return;  // of a log, which does not tell it
  why.notes.push_back(
      percent(number(summary.exposed_communication) / std::max(number(summary.step_time.median), 1.0)) +
      " of the step");
}

void add_tokens(Why& why, const RunSummary& run, const PlannedScenario* planned) {
  const double seconds = number(run.step_time.median) / 1e9;
  const double tokens =
      planned != nullptr ? static_cast<double>(tokens_per_step(*planned)) : run.tokens_per_second * seconds;
  why.arithmetic = Arithmetic::quotient;
  why.parts.push_back({"tokens of a step", rate(tokens), {}, tokens});
  why.parts.push_back({"step time", to_string(run.step_time.median), {}, seconds});
}

void add_tokens_of_a_rank(Why& why, const RunSummary& run) {
  why.arithmetic = Arithmetic::quotient;
  why.parts.push_back({"of all ranks", rate(run.tokens_per_second), {}, run.tokens_per_second});
  why.parts.push_back({"ranks", std::to_string(run.ranks), {}, static_cast<double>(run.ranks)});
}

void add_mfu(Why& why, const RunSummary& run, const PlannedScenario* planned) {
  why.parts.push_back({"step time", to_string(run.step_time.median)});
  if (planned == nullptr || run.step_time.median.value <= 0) return;
  const auto limits = device_limits(*planned);
  if (!limits || !limits->peak) return;
  const double flops = static_cast<double>(model_flops_per_step(*planned).value);
  const double attained = flops * 1e9 / number(run.step_time.median);
  why.arithmetic = Arithmetic::quotient;
  why.parts.push_back({"model FLOPs of a rank in a step", fmt::format("{:.3g}", flops)});
  why.parts.push_back({"FLOPs per second", fmt::format("{:.3g} TFLOP/s", attained / 1e12), {}, attained});
  why.parts.push_back({"the device's peak",
                       fmt::format("{:.3g} TFLOP/s", limits->peak->value / 1e12),
                       {},
                       limits->peak->value});
}

void add_place_of_peak(Why& why, const LoadedRun& run) {
  const MemorySummary& memory = *run.record.summary.memory;
  why.parts.push_back({"highest in", peak_label_of(run), memory.peak_instruction});
  why.parts.push_back({"rank and step", fmt::format("{} and {}", memory.peak_rank, memory.peak_step)});
}

void add_peak(Why& why, const LoadedRun& loaded) {
  const RunSummary& run = loaded.record.summary;
  const MemorySummary& memory = *run.memory;
  add_place_of_peak(why, loaded);
  if (!knows_classes(memory.by_class)) {
    why.notes.push_back("what it is made of is not known");
    return;
  }
  why.arithmetic = Arithmetic::sum;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    if (memory.by_class[i].value == 0) continue;
    why.parts.push_back({with_spaces(to_string(static_cast<BufferClass>(i))),
                         to_string(memory.by_class[i]),
                         {},
                         number(memory.by_class[i])});
  }
  if (run.memory_limit) why.notes.push_back("a rank may use " + to_string(*run.memory_limit));
}

void add_class(Why& why, const LoadedRun& run, double bytes) {
  const double peak = number(run.record.summary.memory->peak_allocated);
  add_place_of_peak(why, run);
  why.parts.push_back({"of the peak", percent(bytes / std::max(peak, 1.0))});
}

void add_communication(Why& why, const RunSummary& run, std::string_view kind) {
  why.arithmetic = Arithmetic::sum;
  for (const CommunicationTotal& total : run.communication) {
    if (to_string(total.kind) != kind) continue;
    why.parts.push_back({fmt::format("{} of {} ranks", total.count, total.group_size),
                         total.bytes.value > 0 ? to_string(total.bytes) : "unknown",
                         {},
                         number(total.bytes)});
  }
}

// What is asked for, and what the parts of an answer are taken from.
struct Question {
  const LoadedRun& run;
  std::string_view metric;
  double value;
  const PlannedScenario* planned;

  const RunSummary& summary() const { return run.record.summary; }
};

// How a figure comes about. A name that ends with a dot is the beginning of several metrics' names; a figure
// without a row is told in words only.
struct Derivation {
  std::string_view metric;
  void (*add_parts)(Why&, const Question&);
};

constexpr Derivation k_derivations[] = {
    {"step_time",
     [](Why& why, const Question& asked) {
       add_steps(why, asked.run, [](const StepTrace& step) { return step_time(step); });
     }},
    {"exposed_communication", [](Why& why, const Question& asked) { add_exposed(why, asked.run); }},
    {"tokens_per_second",
     [](Why& why, const Question& asked) { add_tokens(why, asked.summary(), asked.planned); }},
    {"tokens_per_second_per_gpu",
     [](Why& why, const Question& asked) { add_tokens_of_a_rank(why, asked.summary()); }},
    {"mfu", [](Why& why, const Question& asked) { add_mfu(why, asked.summary(), asked.planned); }},
    {"peak_allocated", [](Why& why, const Question& asked) { add_peak(why, asked.run); }},
    {k_class, [](Why& why, const Question& asked) { add_class(why, asked.run, asked.value); }},
    {k_communication,
     [](Why& why, const Question& asked) {
       add_communication(why, asked.summary(), asked.metric.substr(k_communication.size()));
     }},
};

void add_parts(Why& why, const Question& asked) {
  for (const Derivation& each : k_derivations) {
    if (each.metric == asked.metric || (each.metric.ends_with('.') && asked.metric.starts_with(each.metric)))
      return each.add_parts(why, asked);
  }
}

struct ShownFigure {
  double value;
  std::string text;
};

std::optional<ShownFigure> figure_of(const RunSummary& summary, std::string_view metric) {
  const std::vector<Metric> figures = summary_metrics(summary, summary, {{std::string(metric), 0}});
  const auto figure = std::find_if(figures.begin(), figures.end(),
                                   [metric](const Metric& each) { return each.name == metric; });
  if (figure == figures.end() || !figure->predicted) return std::nullopt;
  return ShownFigure{*figure->predicted, metric_figure(figure->predicted, figure->unit)};
}

}  // namespace

std::string source_of(const LoadedRun& run) {
  const Provenance& from = run.record.trace.provenance;
  if (from.kind == RunKind::measured) return fmt::format("measured on {}", from.machine);
  return from.calibrated ? fmt::format("simulated with the coefficients of calibration {}", from.calibration)
                         : "simulated with published figures: not calibrated";
}

std::optional<Why> why_metric(const LoadedRun& run, std::string_view metric, const PlannedScenario* planned) {
  const auto meaning = metric_meaning(metric);
  const auto figure = figure_of(run.record.summary, metric);
  if (!meaning || !figure) return std::nullopt;
  Why why;
  why.title = fmt::format("{} of {}", with_spaces(metric), title_of(run));
  why.value = figure->text;
  why.formula = meaning->formula;
  why.source = source_of(run);
  why.settings = meaning->settings;
  add_parts(why, {run, metric, figure->value, planned});
  for (const std::string& each : run.record.trace.provenance.assumes) why.notes.push_back("assumes " + each);
  for (const std::string& each : run.record.trace.provenance.leaves_out)
    why.notes.push_back("leaves out " + each);
  return why;
}

Why why_memory(const LoadedRun& run, const MemorySample& sample) {
  Why why;
  why.title =
      fmt::format("memory while {} was issued, in {}", label_of(run, sample.instruction), title_of(run));
  why.value = to_string(sample.peak);
  why.formula = "the bytes of live tensors at their highest within the instruction, by class, added up";
  why.source = source_of(run);
  why.settings = metric_meaning("peak_allocated")->settings;
  why.arithmetic = Arithmetic::sum;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    const Bytes bytes = sample.by_class_at_peak[i];
    if (bytes.value == 0) continue;
    why.parts.push_back(
        {with_spaces(to_string(static_cast<BufferClass>(i))), to_string(bytes), {}, number(bytes)});
  }
  why.parts.push_back({"instruction", label_of(run, sample.instruction), sample.instruction});
  why.notes.push_back(to_string(sample.live) + " are left after it");
  return why;
}

}  // namespace shardlab::view
