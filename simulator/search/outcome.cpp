#include "simulator/search/outcome.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "engine/base/json_number.h"
#include "engine/trace/metrics.h"

namespace shardlab {
namespace {

template <typename T>
void put(nlohmann::json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}
void put(nlohmann::json& json, const char* name, const std::optional<Bytes>& value) {
  if (value) json[name] = value->value;
}

std::optional<Bytes> bytes_of(const nlohmann::json& json, const char* name) {
  return json.contains(name) ? std::optional(Bytes{json_number<std::int64_t>(json.at(name))}) : std::nullopt;
}
std::optional<double> number_of(const nlohmann::json& json, const char* name) {
  return json.contains(name) ? std::optional(json.at(name).get<double>()) : std::nullopt;
}

nlohmann::json json_of(const PredictedFigures& figures) {
  nlohmann::json json = {{"first_step_ns", figures.first_step.value},
                         {"step_time_ns", figures.step_time.value},
                         {"tokens", figures.tokens},
                         {"tokens_per_second", figures.tokens_per_second},
                         {"exposed_ns", figures.exposed_communication.value},
                         {"forward_ns", figures.forward.value},
                         {"peak_allocated", figures.peak_allocated.value},
                         {"retries", figures.retries},
                         {"fit_reason", figures.fit_reason},
                         {"peak_label", figures.peak_label},
                         {"metrics", figures.metrics}};
  put(json, "mfu", figures.mfu);
  put(json, "peak_device", figures.peak_device);
  put(json, "device_high", figures.device_high);
  put(json, "limit", figures.limit);
  put(json, "fit_probability", figures.fit_probability);
  if (figures.fits) json["fits"] = std::string(to_string(*figures.fits));
  return json;
}

PredictedFigures figures_in(const nlohmann::json& json) {
  PredictedFigures figures;
  figures.first_step = {json_number<std::int64_t>(json.at("first_step_ns"))};
  figures.step_time = {json_number<std::int64_t>(json.at("step_time_ns"))};
  figures.tokens = json_number<std::int64_t>(json.at("tokens"));
  figures.tokens_per_second = json.at("tokens_per_second").get<double>();
  figures.exposed_communication = {json_number<std::int64_t>(json.at("exposed_ns"))};
  figures.forward = {json_number<std::int64_t>(json.at("forward_ns"))};
  figures.peak_allocated = {json_number<std::int64_t>(json.at("peak_allocated"))};
  figures.retries = json_number<std::int64_t>(json.at("retries"));
  figures.fit_reason = json.at("fit_reason").get<std::string>();
  figures.peak_label = json.at("peak_label").get<std::string>();
  figures.metrics = json.at("metrics").get<std::map<std::string, double>>();
  figures.mfu = number_of(json, "mfu");
  figures.peak_device = bytes_of(json, "peak_device");
  figures.device_high = bytes_of(json, "device_high");
  figures.limit = bytes_of(json, "limit");
  figures.fit_probability = number_of(json, "fit_probability");
  if (json.contains("fits")) figures.fits = parse_word<Fit>(json.at("fits").get<std::string>());
  return figures;
}

Tolerances all_metrics() {
  Tolerances every;
  for (const std::string& name : metric_names()) every[name] = 0;
  return every;
}

}  // namespace

PredictedFigures figures_of(const RunSummary& run, Nanoseconds first_step, Nanoseconds forward,
                            std::int64_t tokens) {
  static const Tolerances every = all_metrics();
  PredictedFigures figures;
  figures.first_step = first_step;
  figures.step_time = run.step_time.median;
  figures.tokens = tokens;
  figures.tokens_per_second = run.tokens_per_second;
  figures.mfu = run.mfu;
  figures.exposed_communication = run.exposed_communication;
  figures.forward = forward;
  figures.limit = run.memory_limit;
  figures.fits = run.fits;
  figures.fit_probability = run.fit_probability;
  figures.fit_reason = run.fit_reason.value_or("");
  if (run.memory) {
    figures.peak_allocated = run.memory->peak_allocated;
    figures.peak_device = run.memory->peak_device;
    figures.device_high = run.memory->device_high;
    figures.retries = run.memory->allocator_retries.value_or(0);
    figures.peak_label = run.memory->peak_label;
  }
  for (const Metric& metric : summary_metrics(run, run, every))
    if (metric.predicted) figures.metrics[metric.name] = *metric.predicted;
  return figures;
}

bool predicted_equal(const PredictedFigures& a, const PredictedFigures& b) {
  return a.step_time == b.step_time && a.first_step == b.first_step && a.tokens == b.tokens &&
         a.memory() == b.memory() && a.peak_allocated == b.peak_allocated &&
         a.fit_probability == b.fit_probability;
}

std::string outcome_text(const std::string& key, const Outcome& outcome) {
  nlohmann::json json = {{"key", key}};
  if (outcome.refused.empty())
    json["figures"] = json_of(outcome.figures);
  else
    json["refused"] = outcome.refused;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<KeptOutcome> parse_outcome(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  try {
    KeptOutcome kept{json.at("key").get<std::string>(), {}};
    if (json.contains("refused"))
      kept.outcome.refused = json.at("refused").get<std::string>();
    else
      kept.outcome.figures = figures_in(json.at("figures"));
    return kept;
  } catch (const nlohmann::json::exception&) {
    return bad_input({}, "no result of a search");
  }
}

bool may_be_outcome(std::string_view line) {
  constexpr auto k_beginnings = std::to_array<std::string_view>({R"({"figures":)", R"({"key":)"});
  return std::any_of(k_beginnings.begin(), k_beginnings.end(), [&](std::string_view beginning) {
    return line.starts_with(beginning) || beginning.starts_with(line);
  });
}

}  // namespace shardlab
