#include "engine/trace/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/nearest.h"
#include "engine/trace/known_classes.h"
#include "engine/trace/run_figures.h"

namespace shardlab {
namespace {

constexpr std::array k_collectives = {InstructionKind::AllGather, InstructionKind::ReduceScatter,
                                      InstructionKind::Reduce,    InstructionKind::AllReduce,
                                      InstructionKind::Broadcast, InstructionKind::AllToAll};

// Among the places of the rows: the metric that needs traces (comparison.h) and sums over lists.
constexpr int k_place_of_live_bytes = 6, k_place_of_totals = 20;

// A metric's value in one run.
struct Value {
  std::string name;
  MetricUnit unit = MetricUnit::nanoseconds;
  Listed listed = Listed::always;
  int place = 0;
  std::optional<double> value;
};

double number_of(double value) {
  return value;
}
template <typename Tag>
double number_of(Quantity<Tag> quantity) {
  return static_cast<double>(quantity.value);
}

// What is added for a field that is compared, by its type; a null pointer: the run has no such field.
class Values {
 public:
  explicit Values(const RunSummary& run) : knows_instructions_(run.exposed_communication.value >= 0) {
    visit_figures(&run, [this](const auto& figure, const auto* field) {
      if constexpr (requires { add(figure, field); }) {
        if (!figure.metric.name.empty()) add(figure, field);
      }
    });
    std::stable_sort(values_.begin(), values_.end(),
                     [](const Value& a, const Value& b) { return a.place < b.place; });
  }
  std::vector<Value> take() && { return std::move(values_); }

 private:
  template <typename T>
  requires requires(const T& field) { number_of(field); }
  void add(const FigureFacts& figure, const T* field) {
    const bool known = field && !(figure.zero_is_unknown && number_of(*field) == 0) &&
                       !(figure.negative_is_unknown && number_of(*field) < 0);
    push(figure, "", known ? std::optional(number_of(*field)) : std::nullopt);
  }

  template <typename T>
  requires requires(const T& field) { number_of(field); }
  void add(const FigureFacts& figure, const std::optional<T>* field) {
    push(figure, "", field && *field ? std::optional(number_of(**field)) : std::nullopt);
  }

  void add(const FigureFacts& figure, const BytesByClass* by_class) {
    for (std::size_t i = 0; i < k_buffer_classes; ++i)
      push(figure, to_string(static_cast<BufferClass>(i)),
           by_class && knows_classes(*by_class) ? std::optional(number_of((*by_class)[i])) : std::nullopt);
  }

  // Over all sizes of groups.
  void add(const FigureFacts& figure, const std::vector<CommunicationTotal>* totals) {
    const std::optional<double> nothing = knows_instructions_ ? std::optional(0.0) : std::nullopt;
    std::optional<double> all = nothing;
    for (const InstructionKind kind : k_collectives) {
      std::optional<double> sum = nothing;
      for (const CommunicationTotal& total : *totals) {
        if (total.kind == kind)
          sum = total.bytes.value > 0 && sum ? std::optional(*sum + number_of(total.bytes)) : std::nullopt;
      }
      push(figure, to_string(kind), sum);
      all = all && sum ? std::optional(*all + *sum) : std::nullopt;
    }
    values_.push_back({std::string(figure.metric.total), figure.metric.unit, Listed::with_tolerance,
                       k_place_of_totals, all});
  }

  // "operator.linear.backward"
  void add(const FigureFacts& figure, const std::vector<OperatorTime>* operators) {
    for (const OperatorTime& op : *operators)
      push(figure, op.operation + (op.backward ? ".backward" : ".forward"), number_of(op.time));
  }

  void push(const FigureFacts& figure, std::string_view below, std::optional<double> value) {
    const MetricRule& rule = figure.metric;
    values_.push_back(
        {std::string(rule.name) + std::string(below), rule.unit, rule.listed, rule.place, value});
  }

  bool knows_instructions_;  // else nothing is known of collectives
  std::vector<Value> values_;
};

std::vector<Value> values_of(const RunSummary& run) {
  return Values(run).take();
}

std::optional<double> error_of(std::optional<double> predicted, std::optional<double> measured) {
  if (!predicted || !measured) return std::nullopt;
  if (*measured != 0) return *predicted / *measured - 1;
  if (*predicted == 0) return 0.0;
  return std::nullopt;
}

bool is_listed(const Metric& metric, Listed listed) {
  if (metric.tolerance) return true;
  switch (listed) {
    case Listed::always: return true;
    case Listed::where_not_zero: return metric.predicted.value_or(0) != 0 || metric.measured.value_or(0) != 0;
    case Listed::where_both_know: return metric.predicted && metric.measured;
    case Listed::with_tolerance: return false;
  }
  return false;
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  bool live = false;
  for (const Value& value : values_of({})) {
    if (!live && value.place > k_place_of_live_bytes) {
      names.push_back(std::string(k_live_bytes));
      live = true;
    }
    names.push_back(value.name);
  }
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
  const std::vector<Value> of_predicted = values_of(predicted);
  std::vector<Metric> metrics;
  for (const Value& value : values_of(measured)) {
    const auto same = std::find_if(of_predicted.begin(), of_predicted.end(),
                                   [&](const Value& each) { return each.name == value.name; });
    const std::optional<double> other = same != of_predicted.end() ? same->value : std::nullopt;
    Metric metric = judged_metric(value.name, value.unit, other, value.value, tolerances);
    if (is_listed(metric, value.listed)) metrics.push_back(std::move(metric));
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

void leave_times_unjudged(Comparison& comparison, const std::string& why) {
  for (Metric& metric : comparison.metrics) {
    if (!metric.tolerance || metric.unit == MetricUnit::bytes || metric.name == k_live_bytes) continue;
    metric.verdict = Verdict::not_judged;
    comparison.times_not_judged = why;
  }
  comparison.verdict = overall_verdict(comparison.metrics);
}

void leave_unknown_unjudged(Comparison& comparison) {
  for (Metric& metric : comparison.metrics) {
    if (metric.measured) continue;
    metric.tolerance.reset();
    metric.verdict = Verdict::not_judged;
  }
  comparison.verdict = overall_verdict(comparison.metrics);
}

Verdict overall_verdict(const std::vector<Metric>& metrics) {
  const auto has = [&metrics](Verdict verdict) {
    return std::any_of(metrics.begin(), metrics.end(), [verdict](const Metric& metric) {
      return metric.tolerance && metric.verdict == verdict;
    });
  };
  if (has(Verdict::fail)) return Verdict::fail;
  return has(Verdict::pass) && !has(Verdict::not_judged) ? Verdict::pass : Verdict::not_judged;
}

}  // namespace shardlab
