#include "gui/view_model/model_list.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/folder.h"
#include "engine/base/paths.h"
#include "engine/model/families/family.h"
#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

std::vector<std::filesystem::path> model_folders(std::vector<Error>& problems) {
  auto folders = find_asset("models").and_then([](const auto& root) { return paths_in(root); });
  if (!folders) {
    problems.push_back(folders.error());
    return {};
  }
  std::error_code ignored;
  std::erase_if(*folders,
                [&](const auto& path) { return !std::filesystem::exists(path / "config.json", ignored); });
  return *std::move(folders);
}

Result<ModelGraph> build(const std::filesystem::path& folder) {
  SHARDLAB_TRY(const ModelConfig config, ModelConfig::read(folder / "config.json", {}));
  return build_model_graph(config, GraphOptions{});
}

// Parameters in millions or billions, as models are called.
Cell parameter_cell(std::int64_t count) {
  const double number = static_cast<double>(count);
  return {
      count >= 1'000'000'000 ? fmt::format("{:.2f} B", number / 1e9) : fmt::format("{:.1f} M", number / 1e6),
      number};
}

void add_parameters(const ModelGraph& graph, ModuleId id, std::set<ParameterId>& all) {
  for (const ParameterId parameter : graph.module(id).parameters) all.insert(parameter);
  for (const ModuleId child : graph.module(id).children) add_parameters(graph, child, all);
}

// Those that several modules share are counted once.
std::int64_t parameters_below(const ModelGraph& graph, ModuleId id) {
  std::set<ParameterId> all;
  add_parameters(graph, id, all);
  std::int64_t sum = 0;
  for (const ParameterId parameter : all) sum += graph.parameter(parameter).model_elements();
  return sum;
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

ModuleLine line_of(const ModelGraph& graph, ModuleId id) {
  const Module& module = graph.module(id);
  ModuleLine line;
  line.name = module.path.empty() ? graph.family : std::string(last_name(module.path));
  line.class_name = module.class_name;
  line.parameters = parameters_below(graph, id);
  for (const ParameterId parameter_id : module.parameters) {
    const Parameter& parameter = graph.parameter(parameter_id);
    line.own.push_back(fmt::format("{} [{}] {}", last_name(parameter.name),
                                   fmt::join(parameter.shape.begin(), parameter.shape.end(), ", "),
                                   to_string(parameter.dtype)));
  }
  for (const ModuleId child : module.children) {
    ModuleLine below = line_of(graph, child);
    const bool same = !line.children.empty() && line.children.back().class_name == below.class_name &&
                      line.children.back().parameters == below.parameters &&
                      line.children.back().own == below.own &&
                      below.children.size() == line.children.back().children.size() &&
                      std::isdigit(static_cast<unsigned char>(below.name.front())) != 0;
    if (same) {
      ModuleLine& first = line.children.back();
      ++first.times;
      first.name = first.name.substr(0, first.name.find(' ')) + " to " + below.name;
    } else {
      line.children.push_back(std::move(below));
    }
  }
  return line;
}

}  // namespace

ModelList read_models() {
  ModelList list;
  list.table.name = "models";
  list.table.columns = {
      {.title = "model", .numeric = false},
      {.title = "family", .numeric = false},
      {.title = "parameters",
       .meaning = {"elements of all parameters, tied ones once: the modules below the model "
                   "added up",
                   "the module tree that is built from config.json",
                   {"model.config", "model.overrides"}}},
      {.title = "layers", .meaning = {"blocks of the model", "config.json", {"model.config"}}},
      {.title = "vocabulary", .meaning = {"rows of the embedding", "config.json", {"model.config"}}}};
  std::vector<std::vector<WhyPart>> parts;  // by row: what its parameters are made of
  for (const std::filesystem::path& folder : model_folders(list.problems)) {
    auto graph = build(folder);
    if (!graph) {
      list.problems.push_back(graph.error());
      continue;
    }
    Row row;
    row.key = static_cast<std::int64_t>(list.names.size());
    row.cells = {text_cell(folder.filename().string()), text_cell(graph->family),
                 parameter_cell(total_parameters(*graph)), count_cell(graph->layers),
                 count_cell(graph->vocabulary)};
    list.table.rows.push_back(std::move(row));
    list.names.push_back(folder.filename().string());
    parts.push_back(parameter_parts(module_tree(*graph)));
    list.graphs.push_back(*std::move(graph));
  }
  list.table.explain = [parts = std::move(parts)](const DataTable& table, std::size_t row, std::size_t column,
                                                  Why& why) {
    if (column > 1)
      why.source = fmt::format("assets/models/{}/config.json", table.rows[row].cells.front().text);
    if (column != 2) return;
    why.arithmetic = Arithmetic::sum;
    why.parts = parts[row];
  };
  return list;
}

std::vector<WhyPart> parameter_parts(const ModuleLine& line) {
  std::vector<WhyPart> parts;
  std::int64_t rest = line.parameters;
  for (const ModuleLine& child : line.children) {
    const std::int64_t all = child.parameters * child.times;
    rest -= all;
    const std::string each =
        child.times > 1 ? fmt::format("{} x {} = ", child.times, grouped(child.parameters)) : "";
    parts.push_back({child.name, each + grouped(all), {}, static_cast<double>(all)});
  }
  const char* const of_rest = rest > 0 ? "its own" : "tied: counted once";
  if (rest != 0) parts.push_back({of_rest, grouped(rest), {}, static_cast<double>(rest)});
  return parts;
}

Why why_parameters(const ModuleLine& line) {
  Why why;
  why.title = "parameters of " + line.name;
  why.value = grouped(line.parameters);
  why.formula = "elements of its own parameters and of all modules below it, tied ones once";
  if (line.times > 1) why.formula += fmt::format("; of one of {}", line.times);
  why.source = "the module tree that is built from config.json";
  why.settings = {"model.config", "model.overrides"};
  why.arithmetic = Arithmetic::sum;
  why.parts = parameter_parts(line);
  for (const std::string& own : line.own) why.notes.push_back(own);
  return why;
}

ModuleLine module_tree(const ModelGraph& graph) {
  return line_of(graph, ModuleId{0});
}

}  // namespace shardlab::view
