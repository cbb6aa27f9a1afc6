#include "gui/view_model/job_output.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"

namespace shardlab::view {
namespace {

using Json = nlohmann::json;

template <typename T>
std::optional<T> field(const Json& event, const char* name) {
  const auto found = event.find(name);
  if (found == event.end()) return std::nullopt;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return std::nullopt;
  } else {
    if (!found->is_number()) return std::nullopt;
  }
  return found->template get<T>();
}

void take_training(JobOutput& output, const Json& event) {
  output.activity = "training";
  output.steps = field<std::int64_t>(event, "steps").value_or(output.steps);
  output.steps_done = field<std::int64_t>(event, "steps_done").value_or(output.steps_done);
  if (output.steps_done <= 0) return;
  JobStep step;
  step.step = output.steps_done;
  step.loss = field<double>(event, "loss");
  if (const auto time = field<std::int64_t>(event, "step_time_ns")) step.step_time = Nanoseconds{*time};
  step.tokens_per_second = field<double>(event, "tokens_per_second");
  if (const auto peak = field<std::int64_t>(event, "peak_bytes")) step.peak = Bytes{*peak};
  if (!output.history.empty() && output.history.back().step == step.step) output.history.pop_back();
  output.history.push_back(step);
}

void take_stored(JobOutput& output, const Json& event) {
  const auto id = parse_run_id(field<std::string>(event, "run_id").value_or(""));
  if (!id) return;
  output.stored.push_back({*id, parse_word<RunKind>(field<std::string>(event, "kind").value_or("")),
                           field<std::string>(event, "plan_hash").value_or("")});
}

// False when it is no event of this program.
bool take_event(JobOutput& output, std::string_view line) {
  if (!line.starts_with(R"({"event":)")) return false;
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return false;
  const std::string name = field<std::string>(event, "event").value_or("");
  if (name == "training") {
    take_training(output, event);
  } else if (name == "calibrating") {
    output.activity = "calibrating " + field<std::string>(event, "what").value_or("");
  } else if (name == "calibrated") {
    output.activity = "calibrated";
  } else if (name == "stored") {
    take_stored(output, event);
  } else if (name == "error") {
    output.error = parse_error_json(line);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void take_output_line(JobOutput& output, std::string_view line) {
  if (take_event(output, line)) return;
  if (output.lines.size() >= JobOutput::k_most_lines) {
    constexpr auto k_dropped_at_once = static_cast<std::ptrdiff_t>(JobOutput::k_most_lines / 10);
    output.lines.erase(output.lines.begin(), output.lines.begin() + k_dropped_at_once);
    output.dropped_lines += static_cast<std::uint64_t>(k_dropped_at_once);
  }
  output.lines.emplace_back(line);
}

}  // namespace shardlab::view
