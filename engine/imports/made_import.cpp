#include "engine/imports/made_import.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/input_file.h"
#include "engine/base/nearest.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/imports/import_case.h"
#include "engine/formats/imports/imported_tree.h"
#include "engine/formats/imports/named_model.h"
#include "engine/formats/imports/seen_import.h"
#include "engine/formats/profiler/seen_plan.h"
#include "engine/model/hub_names.h"
#include "engine/planner/load_model.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/validate.h"

namespace shardlab {
namespace {

// --onto and --set.
struct ImportBase {
  YamlNode tree;
  std::string file;
  std::optional<Scenario> scenario;  // where --onto gives one
};

YamlNode empty_tree() {
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  return map;
}

// Paths of the base are relative to its folder; the new scenario may lie elsewhere.
void make_whole(YamlNode* value, const std::filesystem::path& folder) {
  if (value == nullptr) return;
  for (YamlNode& item : value->items) make_whole(&item, folder);
  std::error_code error;
  if (!value->is_scalar() || value->text.empty() || !std::filesystem::exists(folder / value->text, error))
    return;
  value->text = std::filesystem::absolute(folder / value->text, error).lexically_normal().string();
}

void make_paths_whole(YamlNode& tree, const std::filesystem::path& file) {
  for (const auto& [section, key] :
       {std::pair{"model", "config"}, std::pair{"model", "weights"}, std::pair{"train", "data"}}) {
    YamlNode* const map = tree.find(section);
    if (map != nullptr) make_whole(map->find(key), file.parent_path());
  }
}

bool names_strategy(const YamlNode& tree) {
  const YamlNode* const parallel = tree.find("parallel");
  return parallel != nullptr && parallel->find("strategy") != nullptr;
}

Result<std::string> text_of_onto(const ImportRequest& request) {
  if (request.onto_text) return *request.onto_text;
  return read_input_file(request.onto, k_scenario_file);
}

// The strategy is the files' to say: a base of several ranks that names none is whole with any that takes
// them.
Result<ReadScenario> read_onto(const ImportRequest& request, const std::string& text, const YamlNode& tree) {
  const std::string file = request.onto.string();
  Result<ReadScenario> read = parse_scenario_with_source(text, file, request.overrides);
  if (read || names_strategy(tree)) return read;
  for (const std::string& strategy : strategy_names()) {
    std::vector<std::string> overrides = request.overrides;
    overrides.push_back("parallel.strategy=" + strategy);
    if (auto with_strategy = parse_scenario_with_source(text, file, overrides)) return with_strategy;
  }
  return read;
}

Result<ImportBase> read_base(const ImportRequest& request) {
  ImportBase base{empty_tree(), request.files.front().string(), {}};
  if (!request.onto.empty()) {
    base.file = request.onto.string();
    SHARDLAB_TRY(const std::string text, text_of_onto(request));
    SHARDLAB_TRY(base.tree, parse_yaml(text, base.file));
    SHARDLAB_TRY(ReadScenario read, read_onto(request, text, base.tree));
    base.scenario = std::move(read.scenario);
    make_paths_whole(base.tree, request.onto);
  }
  for (const std::string& assignment : request.overrides)
    SHARDLAB_CHECK_OK(apply_override(base.tree, assignment));
  return base;
}

bool names_model(const YamlNode& tree) {
  const YamlNode* const model = tree.find("model");
  return model != nullptr && model->find("config") != nullptr;
}

// The model alone, where the base names one.
Result<std::optional<ModelGraph>> model_of(const ImportBase& base) {
  if (!names_model(base.tree)) return std::optional<ModelGraph>();
  const YamlNode* const model = base.tree.find("model");
  YamlNode tree = empty_tree();
  tree.entries.push_back({"model", {}, *model});
  if (model->find("sequence_length") == nullptr)
    set_in_tree(tree, "model.sequence_length", yaml_scalar("128"));
  set_in_tree(tree, "cluster.device", yaml_scalar("cpu"));
  set_in_tree(tree, "cluster.ranks", yaml_scalar("1"));
  const auto read = read_scenario_tree(tree, base.file);
  auto graph = read ? load_model_graph(read->scenario) : Result<ModelGraph>(fail(read.error()));
  if (graph) return std::optional<ModelGraph>(*std::move(graph));
  if (is_of_the_machine(graph.error())) return fail(graph.error());
  return std::optional<ModelGraph>();
}

// The cluster alone, where only that is said: how many ranks are to train, whatever.
std::optional<std::int64_t> ranks_of(const ImportBase& base) {
  const YamlNode* const cluster = base.tree.find("cluster");
  if (base.scenario || cluster == nullptr) return std::nullopt;
  YamlNode tree = empty_tree();
  tree.entries.push_back({"cluster", {}, *cluster});
  set_in_tree(tree, "model.config", yaml_scalar("tiny-llama"));
  set_in_tree(tree, "model.sequence_length", yaml_scalar("128"));
  set_in_tree(tree, "parallel.strategy", yaml_scalar(strategy_of(Framework::fsdp2)));
  const auto read = read_scenario_tree(tree, base.file);
  return read ? std::optional<std::int64_t>(world_size(read->scenario)) : std::nullopt;
}

// Elements of a token's vector: the width of its embedding.
std::optional<std::int64_t> hidden_size(const ModelGraph& graph) {
  if (graph.parameters.empty() || graph.parameters.front().shape.size() != 2) return std::nullopt;
  return graph.parameters.front().shape[1];
}

// `base` must live as long as what is returned.
Result<ImportContext> context_of(const ImportBase& base) {
  ImportContext context;
  context.onto = base.scenario ? &*base.scenario : nullptr;
  context.ranks = ranks_of(base);
  SHARDLAB_TRY(const std::optional<ModelGraph> model, model_of(base));
  if (model) {
    context.hidden_size = hidden_size(*model);
    context.layer_class = model->block_class;
    context.model_class = model->modules.front().class_name;
  }
  return context;
}

// A model that the file names and that does not ship is answered with what to do about its name.
Status check_missing(const YamlNode& tree, const std::string& file,
                     const std::optional<ForeignEntry>& named) {
  const std::vector<std::string> missing = missing_settings(tree);
  if (missing.empty()) return {};
  static constexpr std::string_view k_model = "model.config";
  if (named && k_model.compare(missing.front()) == 0 && may_be_hub_name(named->value.text))
    return fail(
        {ErrorKind::bad_input, named->value.place,
         fmt::format("does not say {}: of {} nothing ships", fmt::join(missing, ", "), shown(named->value)),
         fmt::format("{}; or --onto S", hint_for_hub_name(named->value.text)), ErrorCode::unsaid});
  return fail({ErrorKind::bad_input, in_file(file), fmt::format("does not say {}", fmt::join(missing, ", ")),
               fmt::format("--onto S gives a scenario that does, --set {}=... the value", missing.front()),
               ErrorCode::unsaid});
}

// Classes of units that the model does not have.
Status check_classes(const ReadScenario& read, const ModelGraph& graph) {
  std::vector<std::string> known;
  for (const Module& module : graph.modules) {
    if (std::find(known.begin(), known.end(), module.class_name) == known.end())
      known.push_back(module.class_name);
  }
  for (const std::string& name : read.scenario.parallel->wrap.classes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fail({ErrorKind::bad_input, read.source.place("parallel.wrap.classes"),
                 fmt::format("the model has no class '{}'", name),
                 fmt::format("its layers are {}", graph.block_class), ErrorCode::unknown_class});
  }
  return {};
}

// What the tool decides of this scenario: lost and added settings of an export, which the tool runs.
std::vector<ExportDifference> decided(const ExportTarget& target, const ReadScenario& read,
                                      const ModelGraph& graph, bool by_trainer) {
  ExportSubject subject{read.scenario, read.source, graph, "imported"};
  subject.by_trainer = by_trainer;
  std::vector<ExportDifference> all = export_differences(target, subject);
  std::erase_if(
      all, [](const ExportDifference& difference) { return difference.kind == DifferenceKind::elsewhere; });
  return all;
}

// The tree with the setting, unless this model refuses it (it has no buffers, for instance).
Status decide(YamlNode& tree, const ExportDifference& difference, const std::string& file) {
  SHARDLAB_TRY(YamlNode value, parse_yaml(difference.instead, difference.setting, true));
  YamlNode changed = tree;
  set_in_tree(changed, difference.setting, std::move(value));
  SHARDLAB_TRY(const ReadScenario read, read_scenario_tree(changed, file));
  SHARDLAB_CHECK_OK(load_model_graph(read.scenario));
  tree = std::move(changed);
  return {};
}

bool contains(const std::vector<std::string>& settings, const std::string& setting) {
  return std::find(settings.begin(), settings.end(), setting) != settings.end();
}

// The tool's own rules, until it has nothing to add: one of them may follow from another.
Status apply_rules(YamlNode& tree, const ImportBase& base, const ModelGraph& graph, MadeImport& made) {
  const ExportTarget* const target = find_export_target(made.reading.target);
  if (target == nullptr) return {};
  constexpr int k_most_rounds = 4;
  for (int round = 0; round < k_most_rounds; ++round) {
    bool changed = false;
    for (ExportDifference& difference : decided(*target, made.read, graph, made.reading.by_trainer)) {
      if (contains(made.reading.settled, difference.setting)) continue;
      if (const Status decided = decide(tree, difference, base.file); !decided) {
        if (is_of_the_machine(decided.error())) return decided;
        continue;
      }
      changed = true;
      made.unasked.push_back(std::move(difference));
    }
    if (!changed) return {};
    SHARDLAB_TRY(made.read, read_scenario_tree(tree, base.file));
  }
  return {};
}

}  // namespace

namespace {

void add_unbuilt(const Error& error, std::vector<UnsupportedText>& unbuilt) {
  for (const Error& part : error.parts) add_unbuilt(part, unbuilt);
  if (error.parts.empty()) unbuilt.push_back({error.place.name, error.what, error.hint});
}

// Values that are not built, and what is built but not beside another setting or for the strategy.
std::vector<UnsupportedText> unbuilt_settings(const ReadScenario& read) {
  std::vector<UnsupportedText> unbuilt;
  if (const Status supported = check_supported(read.scenario, read.source); !supported)
    add_unbuilt(supported.error(), unbuilt);
  return unbuilt;
}

// The model's name in the files, where neither --onto nor --set names one.
std::optional<ForeignEntry> unsaid_model(const ImportRequest& request, const ImportBase& base) {
  return names_model(base.tree) ? std::nullopt : named_model(request.files, {});
}

// Puts the name onto the base, if the Hub knows it and the model ships.
Result<std::optional<ImportedSetting>> take_model(const std::optional<ForeignEntry>& named,
                                                  ImportBase& base) {
  if (!named) return std::optional<ImportedSetting>();
  SHARDLAB_TRY(const auto shipped, shipped_model(named->value.text));
  if (!shipped) return std::optional<ImportedSetting>();
  ImportedSetting setting;
  setting.key = "model.config";
  setting.value = as_yaml(named->value);
  setting.from = named->key;
  set_in_tree(base.tree, setting.key, setting.value);
  return std::optional(std::move(setting));
}

// The name is said by the scenario, and no argument of the program's own any more.
void add_model(ImportedSetting setting, ImportReading& reading) {
  std::erase_if(reading.differences,
                [&](const ImportDifference& difference) { return difference.key == setting.from; });
  reading.set(std::move(setting));
}

// `made` with the reading alone; `named` is what the files call the model.
Result<MadeImport> put_onto(const ImportBase& base, const ImportRequest& request, MadeImport made,
                            const std::optional<ForeignEntry>& named) {
  YamlNode tree = imported_tree(made.reading, base.tree, base.scenario ? &*base.scenario : nullptr);
  for (const std::string& assignment : request.overrides) SHARDLAB_CHECK_OK(apply_override(tree, assignment));
  SHARDLAB_CHECK_OK(check_missing(tree, request.files.front().string(), named));
  SHARDLAB_TRY(made.read, read_scenario_tree(tree, base.file));
  SHARDLAB_TRY(const ModelGraph graph, load_model_graph(made.read.scenario));
  SHARDLAB_CHECK_OK(check_classes(made.read, graph));
  SHARDLAB_CHECK_OK(apply_rules(tree, base, graph, made));
  made.unbuilt = unbuilt_settings(made.read);
  return made;
}

}  // namespace

Result<MadeImport> make_import(const ImportRequest& request) {
  SHARDLAB_TRY(ImportBase base, read_base(request));
  const std::optional<ForeignEntry> named = unsaid_model(request, base);
  SHARDLAB_TRY(std::optional<ImportedSetting> model, take_model(named, base));
  MadeImport made;
  SHARDLAB_TRY(const ImportContext context, context_of(base));
  SHARDLAB_TRY(made.reading, import_files(request.files, context));
  if (model) add_model(*std::move(model), made.reading);
  return put_onto(base, request, std::move(made), named);
}

Result<CaseReading> examine_import(const ImportRequest& request) {
  SHARDLAB_TRY(const ImportBase base, read_base(request));
  SHARDLAB_TRY(const ImportContext context, context_of(base));
  return examine_files(request.files, context);
}

Result<MadeImport> make_import_of_traces(const ImportRequest& request) {
  std::vector<ProfilerTrace> traces;
  for (const std::filesystem::path& file : request.files) {
    SHARDLAB_TRY(traces.emplace_back(), read_profiler_trace(file));
  }
  const std::string first = request.files.front().string();
  const std::optional<SeenPlan> plan = seen_plan(traces);
  if (!plan)
    return bad_input(in_file(first), "shows no marks of DDP, FSDP or DeepSpeed: no plan can be read off it",
                     "without --onto it becomes a run");
  SHARDLAB_TRY(const ImportBase base, read_base(request));
  MadeImport made;
  SHARDLAB_TRY(made.reading, reading_of(*plan, first));
  return put_onto(base, request, std::move(made), {});
}

}  // namespace shardlab
