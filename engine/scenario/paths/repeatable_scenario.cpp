#include "engine/scenario/paths/repeatable_scenario.h"

#include <filesystem>

#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

void make_absolute(std::string& path, const fs::path& directory) {
  std::error_code error;
  const fs::path beside = directory / path;
  if (path.empty() || !fs::exists(beside, error)) return;
  const fs::path absolute = fs::absolute(beside, error);
  if (!error) path = absolute.lexically_normal().string();
}

}  // namespace

std::string repeatable_scenario(Scenario scenario) {
  const fs::path directory = scenario.directory;
  make_absolute(scenario.model->config, directory);
  make_absolute(scenario.model->weights, directory);
  if (scenario.distillation) {
    make_absolute(scenario.distillation->teacher.model->config, directory);
    make_absolute(scenario.distillation->teacher.model->weights, directory);
  }
  for (std::string& file : scenario.train->data) make_absolute(file, directory);
  return write_scenario(scenario);
}

}  // namespace shardlab
