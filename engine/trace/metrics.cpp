#include "engine/trace/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

constexpr std::array k_collectives = {InstructionKind::AllGather, InstructionKind::ReduceScatter,
                                      InstructionKind::Reduce,    InstructionKind::AllReduce,
                                      InstructionKind::Broadcast, InstructionKind::AllToAll};

std::string class_metric(std::size_t index) {
  return "peak." + std::string(to_string(static_cast<BufferClass>(index)));
}

std::string kind_metric(InstructionKind kind) {
  return "communication." + std::string(to_string(kind));
}

double value_of(Nanoseconds time) {
  return static_cast<double>(time.value);
}
double value_of(Bytes bytes) {
  return static_cast<double>(bytes.value);
}

std::optional<double> peak_of(const RunSummary& run) {
  if (!run.memory) return std::nullopt;
  return value_of(run.memory->peak_allocated);
}

std::optional<double> class_of(const RunSummary& run, std::size_t index) {
  if (!run.memory) return std::nullopt;
  return value_of(run.memory->by_class[index]);
}

// Unknown for an imported run.
std::optional<double> rate_of(const RunSummary& run) {
  return run.tokens_per_second > 0 ? std::optional(run.tokens_per_second) : std::nullopt;
}

// Over all sizes of groups.
double communication_of(const RunSummary& run, InstructionKind kind) {
  Bytes sum;
  for (const CommunicationTotal& total : run.communication) {
    if (total.kind == kind) sum += total.bytes;
  }
  return value_of(sum);
}

// "operator.linear.backward"
std::string operator_metric(const OperatorTime& op) {
  return "operator." + op.operation + (op.backward ? ".backward" : ".forward");
}

std::optional<double> time_of(const RunSummary& run, const OperatorTime& wanted) {
  for (const OperatorTime& op : run.operators) {
    if (op.operation == wanted.operation && op.backward == wanted.backward) return value_of(op.time);
  }
  return std::nullopt;
}

std::optional<double> error_of(std::optional<double> predicted, std::optional<double> measured) {
  if (!predicted || !measured) return std::nullopt;
  if (*measured != 0) return *predicted / *measured - 1;
  if (*predicted == 0) return 0.0;
  return std::nullopt;
}

bool worth_a_row(const Metric& metric) {
  return metric.tolerance || metric.predicted.value_or(0) != 0 || metric.measured.value_or(0) != 0;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::fail: return "fail";
    case Verdict::not_judged: return "not judged";
  }
  return "?";
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names = {"step_time", "exposed_communication", "tokens_per_second", "mfu",
                                    "peak_allocated"};
  for (std::size_t i = 0; i < k_buffer_classes; ++i) names.push_back(class_metric(i));
  names.push_back("live_bytes");
  for (InstructionKind kind : k_collectives) names.push_back(kind_metric(kind));
  return names;
}

Metric judged_metric(std::string name, MetricUnit unit, std::optional<double> predicted,
                     std::optional<double> measured, const Tolerances& tolerances) {
  Metric metric{std::move(name),    unit, predicted, measured, error_of(predicted, measured), std::nullopt,
                Verdict::not_judged};
  if (const auto found = tolerances.find(metric.name); found != tolerances.end()) {
    metric.tolerance = found->second;
    const bool good = metric.error && std::abs(*metric.error) <= found->second;
    metric.verdict = good ? Verdict::pass : Verdict::fail;
  }
  return metric;
}

std::vector<Metric> summary_metrics(const RunSummary& predicted, const RunSummary& measured,
                                    const Tolerances& tolerances) {
  std::vector<Metric> metrics;
  const auto always = [&](std::string name, MetricUnit unit, std::optional<double> a,
                          std::optional<double> b) {
    metrics.push_back(judged_metric(std::move(name), unit, a, b, tolerances));
  };
  const auto where_used = [&](std::string name, MetricUnit unit, std::optional<double> a,
                              std::optional<double> b) {
    Metric metric = judged_metric(std::move(name), unit, a, b, tolerances);
    if (worth_a_row(metric)) metrics.push_back(std::move(metric));
  };
  always("step_time", MetricUnit::nanoseconds, value_of(predicted.step_time.median),
         value_of(measured.step_time.median));
  always("exposed_communication", MetricUnit::nanoseconds, value_of(predicted.exposed_communication),
         value_of(measured.exposed_communication));
  where_used("tokens_per_second", MetricUnit::tokens_per_second, rate_of(predicted), rate_of(measured));
  where_used("mfu", MetricUnit::fraction, predicted.mfu, measured.mfu);
  where_used("peak_allocated", MetricUnit::bytes, peak_of(predicted), peak_of(measured));
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    where_used(class_metric(i), MetricUnit::bytes, class_of(predicted, i), class_of(measured, i));
  }
  for (InstructionKind kind : k_collectives) {
    where_used(kind_metric(kind), MetricUnit::bytes, communication_of(predicted, kind),
               communication_of(measured, kind));
  }
  for (const OperatorTime& op : measured.operators) {
    if (const auto time = time_of(predicted, op))
      always(operator_metric(op), MetricUnit::nanoseconds, time, value_of(op.time));
  }
  return metrics;
}

Status check_tolerances(const Tolerances& tolerances) {
  const std::vector<std::string> names = metric_names();
  for (const auto& [name, fraction] : tolerances) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return bad_input("measure.tolerance", "no metric is called '" + name + "'", suggestion(name, names));
    }
    if (!(fraction >= 0))
      return bad_input("measure.tolerance", "the tolerance of " + name + " is negative or no number");
  }
  return {};
}

Verdict overall_verdict(const std::vector<Metric>& metrics) {
  Verdict verdict = Verdict::not_judged;
  for (const Metric& metric : metrics) {
    if (metric.verdict == Verdict::fail) return Verdict::fail;
    if (metric.verdict == Verdict::pass) verdict = Verdict::pass;
  }
  return verdict;
}

}  // namespace shardlab
