#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/formats/tools/module_patterns.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// As a file that exists where the scenario is; else as the scenario says it.
std::string found(const Scenario& scenario, const std::string& name) {
  const auto path = resolve_path(scenario, name);
  return path ? path->string() : name;
}

std::string data_of(const Scenario& scenario) {
  ToolValue files = ToolValue::array();
  for (const std::string& name : scenario.train->data) files.push_back(found(scenario, name));
  return python_literal(files);
}

std::string weights_of(const Scenario& scenario) {
  const std::string& weights = scenario.model->weights;
  return weights.empty() ? "None" : python_literal(found(scenario, weights));
}

std::string frozen_of(const ModelSpec& model) {
  if (model.frozen.empty()) return {};
  return fmt::format(
      "FROZEN = r\"(?:{})(?:\\..*)?\"  # parameters that are not trained, or modules around them\n",
      regular_expression(model.frozen));
}

std::string device_of(const ExportSubject& subject) {
  return on_processors(subject) ? "DEVICE = torch.device(\"cpu\")"
                                : "DEVICE = torch.device(\"cuda\", int(os.environ[\"LOCAL_RANK\"]))";
}

}  // namespace

std::string script_constants(const ExportSubject& subject) {
  const Scenario& scenario = subject.scenario;
  const ToolValue config = ToolValue::parse(subject.model_config, nullptr, false);
  return fmt::format(
      "\nMODEL = {}  # config.json\n"
      "SEQUENCE_LENGTH = {}  # tokens\n"
      "MICRO_BATCH = {}  # sequences of a rank in one forward\n"
      "ACCUMULATION = {}  # micro-batches of a step\n"
      "RANKS = {}\n"
      "{}\n"
      "WARMUP, STEPS = {}, {}  # of which the first are not measured\n"
      "SEED = {}\n"
      "DATA = {}  # text, whose bytes are tokens, or .bin files of uint16 tokens\n"
      "WEIGHTS = {}  # safetensors; None: random\n{}",
      python_literal(config), scenario.model->sequence_length, scenario.train->micro_batch,
      scenario.train->accumulation, world_size(scenario), device_of(subject), scenario.measure->warmup_steps,
      scenario.measure->warmup_steps + scenario.measure->steps, scenario.train->seed, data_of(scenario),
      weights_of(scenario), frozen_of(*scenario.model));
}

}  // namespace shardlab
