#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "engine/base/folder.h"
#include "engine/base/paths.h"
#include "engine/cli/command.h"
#include "engine/model/families/family.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

struct KnownModel {
  std::string name;
  ModelGraph graph;
};

Result<std::vector<KnownModel>> known_models() {
  SHARDLAB_TRY(const std::filesystem::path folder, find_asset("models"));
  SHARDLAB_TRY(const std::vector<std::filesystem::path> paths, paths_in(folder));
  std::vector<KnownModel> models;
  std::error_code ignored;
  for (const std::filesystem::path& path : paths) {
    if (!std::filesystem::exists(path / "config.json", ignored)) continue;
    SHARDLAB_TRY(const ModelConfig config, ModelConfig::read(path / "config.json", {}));
    SHARDLAB_TRY(ModelGraph graph, build_model_graph(config, GraphOptions{}));
    models.push_back({path.filename().string(), std::move(graph)});
  }
  return models;
}

class ModelsCommand final : public Command {
 public:
  std::string_view name() const override { return "models"; }
  std::string_view help() const override { return "Models that ship with the program"; }
  void add_options(OptionParser&) override {}

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const std::vector<KnownModel> models, known_models());
    Json list = Json::array();
    TextTable table({{.title = "name", .align = Align::left},
                     {.title = "family", .align = Align::left},
                     {.title = "parameters"},
                     {.title = "active"},
                     {.title = "layers"},
                     {.title = "vocabulary"}});
    for (const KnownModel& model : models) {
      const std::int64_t parameters = total_parameters(model.graph);
      table.add({model.name, model.graph.family, std::to_string(parameters),
                 std::to_string(active_parameters(model.graph)), std::to_string(model.graph.layers),
                 std::to_string(model.graph.vocabulary)});
      list.push_back({{"name", model.name},
                      {"family", model.graph.family},
                      {"parameters", parameters},
                      {"active", active_parameters(model.graph)},
                      {"layers", model.graph.layers},
                      {"vocabulary", model.graph.vocabulary}});
    }
    context.console.print(table.text(context.console.style()));
    if (context.console.json()) context.console.print_json({{"models", std::move(list)}});
    return k_exit_good;
  }
};

}  // namespace

std::unique_ptr<Command> make_models_command() {
  return std::make_unique<ModelsCommand>();
}

}  // namespace shardlab
