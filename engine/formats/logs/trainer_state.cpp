#include "engine/formats/logs/trainer_state.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/formats/logs/trainer_lines.h"

namespace shardlab {
namespace {

using nlohmann::json;

constexpr FileKind k_state_file{"trainer_state.json", std::int64_t{256} << 20};
constexpr std::string_view k_history = "\"log_history\"";

// One entry of the history. What the Trainer writes without a loss are evaluations, and the whole training.
LineFigures figures_of(const json& entry) {
  LineFigures figures{.kind = LineKind::trainer_figures};
  for (const auto& [name, value] : entry.items())
    if (value.is_number()) add_trainer_figure(name, value.get<double>(), figures);
  if (figures.loss) figures.clock = std::exchange(figures.runtime, std::nullopt);
  return figures;
}

}  // namespace

bool begins_trainer_state(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && beginning[first] == '{' &&
         beginning.find(k_history) != std::string_view::npos;
}

Status read_trainer_state(const std::filesystem::path& file, LogCollector& log) {
  const Place place = in_file(file.string());
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_state_file));
  if (is_json_too_deep(text) || is_json_too_large(text))
    return bad_input(place, "is no state of a Trainer: it is nested too deeply or has too many values");
  try {
    const json root = json::parse(text);
    for (const json& entry : root.at("log_history")) {
      const LineFigures figures = figures_of(entry);
      if (figures.loss || figures.runtime) log.take(figures, std::nullopt);
    }
  } catch (const json::parse_error& error) {
    return bad_input(place, fmt::format("is damaged: it is no JSON from byte {} on", error.byte),
                     "take trainer_state.json of another checkpoint");
  } catch (const json::exception&) {
    return bad_input(place, "is no state of a Trainer: its log_history is no list of figures");
  }
  if (log.has_steps()) return {};
  return bad_input(place, "has no loss in its log_history: no step was logged",
                   "train with a smaller logging_steps, or take the state of a later checkpoint");
}

}  // namespace shardlab
