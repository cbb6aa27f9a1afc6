#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/model_json.h"
#include "engine/model/model_config.h"
#include "engine/planner/load_model.h"
#include "engine/report/tables.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_path.h"

namespace shardlab {
namespace {

// Single quotes of YAML: everything inside is text, a quote is doubled.
std::string yaml_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

class ModelCommand final : public Command {
 public:
  std::string_view name() const override { return "model"; }
  std::string_view help() const override { return "Module tree, parameters and operators of a model"; }
  std::string_view details() const override {
    return "MODEL is a name that `shardlab models` lists, or what the Hub calls it (Qwen/Qwen3-8B), a "
           "config.json or its folder, or a scenario (.yaml).\n"
           "--set reaches every field of the scenario: --set model.overrides.num_hidden_layers=4";
  }
  CommonUse uses() const override { return {.overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("model", model_, "Name, config.json or scenario").type("MODEL").required();
    parser
        .value("--sequence-length", sequence_length_, "Tokens of a sequence [1024, or what the model allows]")
        .positive();
    parser.value("--micro-batch", micro_batch_, "Sequences of a forward [1]").positive();
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const Scenario scenario, scenario_of_model(context.options.overrides));
    SHARDLAB_TRY(const ModelGraph graph, load_model_graph(scenario));
    if (context.console.json())
      context.console.print_json(model_document(graph));
    else
      context.console.print(model_summary(graph, context.console.style()));
    return k_exit_good;
  }

 private:
  bool is_scenario() const { return model_.ends_with(".yaml") || model_.ends_with(".yml"); }

  // A model alone is the model of the smallest scenario around it.
  Result<Scenario> scenario_of_model(std::vector<std::string> overrides) const {
    if (sequence_length_ > 0) overrides.push_back(fmt::format("model.sequence_length={}", sequence_length_));
    if (micro_batch_ > 0) overrides.push_back(fmt::format("train.micro_batch={}", micro_batch_));
    if (is_scenario()) return read_scenario(model_, overrides);
    const std::string yaml =
        fmt::format("model: {{config: {}, sequence_length: {}}}\ncluster: {{device: cpu, ranks: 1}}\n",
                    yaml_quoted(model_), usual_sequence());
    // Without a folder, so that a path means what it means in the shell.
    const std::string file = std::filesystem::path(model_).filename().string();
    auto scenario = parse_scenario(yaml, file, overrides);
    if (!scenario) {  // the text around the model is ours: no place in it is told
      scenario.error().what = what_text(scenario.error());
      scenario.error().place = {};
    }
    return scenario;
  }

  // 1024, or what the model is made for when that is less.
  std::int64_t usual_sequence() const {
    constexpr std::int64_t k_usual = 1024;
    Scenario scenario;
    scenario.model->config = own_model_name(scenario, model_).value_or(model_);
    const auto file = resolve_model_config(scenario, *scenario.model);
    if (!file) return k_usual;  // what is wrong with it is said when the scenario is read
    const auto config = ModelConfig::read(*file, {});
    return config ? std::min(k_usual, config->longest_sequence().value_or(k_usual)) : k_usual;
  }

  std::string model_;
  std::int64_t sequence_length_ = 0;
  std::int64_t micro_batch_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_model_command() {
  return std::make_unique<ModelCommand>();
}

}  // namespace shardlab
