#include "gui/session/setting_form.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/folder.h"
#include "engine/base/paths.h"
#include "engine/hardware/node.h"
#include "engine/scenario/keys/short_sections.h"
#include "engine/scenario/unsupported.h"
#include "engine/scenario/yaml_edit.h"

namespace shardlab::gui {
namespace {

constexpr std::array<std::string_view, 27> k_common{"model.config",
                                                    "model.implementation",
                                                    "model.sequence_length",
                                                    "model.dtype",
                                                    "cluster.node",
                                                    "cluster.gpu",
                                                    "cluster.nodes",
                                                    "cluster.gpus_per_node",
                                                    "cluster.device",
                                                    "cluster.ranks",
                                                    "parallel.strategy",
                                                    "parallel.sharding",
                                                    "parallel.mesh.replicate",
                                                    "parallel.mesh.shard",
                                                    "parallel.reshard_after_forward",
                                                    "parallel.wrap.policy",
                                                    "parallel.wrap.classes",
                                                    "precision.param",
                                                    "precision.reduce",
                                                    "activation.checkpoint",
                                                    "train.micro_batch",
                                                    "train.accumulation",
                                                    "train.sync",
                                                    "train.optimizer",
                                                    "train.learning_rate",
                                                    "train.clip_norm",
                                                    "measure.steps"};

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  const auto folder = find_asset("models");
  if (!folder) return names;
  for (const std::filesystem::path& path : paths_in(*folder).value_or(std::vector<std::filesystem::path>()))
    names.push_back(path.filename().string());
  return names;
}

std::vector<std::string> known_names(const std::string& key) {
  if (key == "model.config") return model_names();
  if (key == "cluster.node") return node_names();
  if (key == "cluster.gpu") return gpu_names();
  return {};
}

FormField field_of(const MarkedKey& line, const std::string& section) {
  FormField field;
  field.key = line.path;
  field.label = section.empty() ? line.path : line.path.substr(section.size() + 1);
  field.type = line.type;
  field.values = line.values.text;
  field.default_text = line.default_value;
  field.help = line.help;
  field.unsupported = line.unsupported;
  field.condition_key = line.condition.key;
  field.condition_values = line.condition.values;
  if (line.type == "true or false") {
    field.control = FieldControl::toggle;
  } else if (line.type == "word" || line.type == "dtype") {
    field.control = line.values.only_words ? FieldControl::choice : FieldControl::text;
    field.choices = line.values.words;
  } else if (line.type == "integer") {
    field.control = FieldControl::integer;
    field.least = line.values.least.value_or(0);
  } else {
    field.choices = known_names(line.path);
  }
  field.common = std::find(k_common.begin(), k_common.end(), line.path) != k_common.end();
  return field;
}

std::vector<FormSection> make_sections() {
  std::vector<FormSection> sections;
  for (const MarkedKey& line : all_keys()) {
    if (line.path.find("[]") != std::string::npos) continue;  // parts of lists: in the text
    const std::size_t dot = line.path.find('.');
    const std::string section = dot == std::string::npos ? "" : line.path.substr(0, dot);
    const std::string name = section.empty() ? "scenario" : section;
    if (sections.empty() || sections.back().name != name) sections.push_back({name, {}});
    sections.back().fields.push_back(field_of(line, section));
  }
  return sections;
}

// The value of the key `name`, looked for beside `key` and then further out: conditions name keys of their
// own or an outer section.
std::optional<std::string> value_beside(const std::string& key, const std::string& name,
                                        const YamlNode& root) {
  static const std::map<std::string, std::string> defaults = [] {
    std::map<std::string, std::string> found;
    for (const FormSection& section : form_sections())
      for (const FormField& field : section.fields) found[field.key] = field.default_text;
    return found;
  }();
  std::string outer = key;
  while (true) {
    const std::size_t dot = outer.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    outer.resize(dot);
    const std::string candidate = outer + "." + name;
    const auto known = defaults.find(candidate);
    if (known == defaults.end()) continue;
    if (auto given = yaml_value_text(root, candidate)) return given;
    // "checkpoint: full" stands for "checkpoint: {kind: full}".
    if (auto section = yaml_value_text(root, outer); section && section->find('{') == std::string::npos)
      return section;
    return known->second;
  }
}

bool condition_holds(const FormField& field, const YamlNode& root) {
  if (field.condition_key.empty()) return true;
  const auto value = value_beside(field.key, field.condition_key, root);
  const std::vector<std::string>& allowed = field.condition_values;
  return !value || std::find(allowed.begin(), allowed.end(), *value) != allowed.end();
}

const YamlNode* node_at(const YamlNode& root, std::string_view key) {
  const YamlNode* node = &root;
  while (node != nullptr && !key.empty()) {
    const std::size_t dot = key.find('.');
    node = node->find(key.substr(0, dot));
    if (dot == std::string_view::npos) break;
    key.remove_prefix(dot + 1);
  }
  return node;
}

bool concerns(const ProblemLine& problem, const FormField& field, const YamlNode* node) {
  if (problem.key == field.key) return true;
  return problem.place && node != nullptr && node->is_scalar() && text_place(node->place) == problem.place;
}

// What lies in the text itself needs no file before it.
ProblemLine line_of(const Error& error, std::string_view file) {
  ProblemLine line{what_text(error), error.hint, error.place.name, {}};
  if (error.place.file == file) {
    line.place = text_place(error.place);
  } else {
    line.text = message_text(error);
  }
  return line;
}

}  // namespace

const std::vector<FormSection>& form_sections() {
  static const std::vector<FormSection> sections = make_sections();
  return sections;
}

std::vector<ProblemLine> problem_lines(const Error& error, std::string_view file) {
  if (error.parts.empty()) return {line_of(error, file)};
  std::vector<ProblemLine> lines;
  for (const Error& part : error.parts) lines.push_back(line_of(part, file));
  return lines;
}

namespace {

// The key above that stands for this one with a single word: "wrap: none" for "wrap: {policy: none}".
std::optional<std::string> short_form_of(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  std::string outer = key.substr(0, dot);
  if (short_key_of(outer) != key.substr(dot + 1)) return std::nullopt;
  return outer;
}

}  // namespace

FieldState field_state(const FormField& field, const YamlNode& root,
                       const std::vector<ProblemLine>& problems) {
  FieldState state;
  state.given = yaml_value_text(root, field.key);
  state.key = field.key;
  const auto outer = short_form_of(field.key);
  const YamlNode* const section = outer && !state.given ? node_at(root, *outer) : nullptr;
  if (section != nullptr && section->is_scalar() && !section->is_null()) {
    state.given = section->text;
    state.key = *outer;
  }
  state.applies = state.given.has_value() || condition_holds(field, root);
  const YamlNode* const node = node_at(root, state.key);
  for (const ProblemLine& problem : problems) {
    if (!concerns(problem, field, node)) continue;
    state.problem = problem.text + (problem.hint.empty() ? "" : " (" + problem.hint + ")");
    break;
  }
  return state;
}

std::string as_yaml(const FormField& field, std::string_view typed) {
  const auto read = parse_yaml(typed, "value");
  const bool is_text = field.type == "text";
  const bool fits = read && (is_text ? read->is_scalar() : !typed.empty());
  if (fits) return std::string(typed);
  return quoted_yaml(typed);
}

}  // namespace shardlab::gui
