#include "engine/formats/imports/foreign_file.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/parse.h"
#include "engine/formats/axolotl/axolotl_arguments.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/foreign/python_yaml.h"
#include "engine/formats/foreign/yaml_references.h"
#include "engine/formats/launchers/shell_commands.h"

namespace shardlab {
namespace {

constexpr std::size_t k_largest = 256 * 1024;
constexpr FileKind k_beginning{"configuration", k_largest + 1};

// How many of the file's keys the section has, with values of a type that it takes there. Keys of several
// tools count for each.
int score(const ForeignValue& root, std::string_view tool_name, std::string_view section_name) {
  const auto tool = known_keys(tool_name);
  if (!tool) return 0;
  const KnownSection& section = (*tool)->section(section_name);
  int known = 0;
  for (const ForeignEntry& entry : root.entries) {
    std::string name = entry.key;
    if (const auto alias = section.aliases.find(name); alias != section.aliases.end()) name = alias->second;
    const KnownKey* key = section.find(name);
    if (key == nullptr && name.starts_with(section.prefix) && !section.prefix_is_ours)
      key = section.find(name.substr(section.prefix.size()));
    if (key == nullptr) continue;
    const bool takes_map = std::any_of(key->types.begin(), key->types.end(), [](const KnownType& type) {
      return type.kind == KnownType::Kind::map || type.kind == KnownType::Kind::section ||
             type.kind == KnownType::Kind::any;
    });
    known += takes_map || !entry.value.is_map() ? 1 : 0;
  }
  return known;
}

struct Scored {
  ForeignKind kind;
  int known;
};

Scored best_kind(const ForeignValue& root) {
  const int trainer = std::max(score(root, "transformers", "root"), score(root, "transformers-4", "root"));
  const std::array all{Scored{ForeignKind::deepspeed, score(root, "deepspeed", "root")},
                       Scored{ForeignKind::accelerate, score(root, "accelerate", "root")},
                       Scored{ForeignKind::trainer, trainer},
                       Scored{ForeignKind::fsdp_section, score(root, "transformers", "fsdp_config")}};
  return *std::max_element(all.begin(), all.end(),
                           [](const Scored& a, const Scored& b) { return a.known < b.known; });
}

// TrainingArguments stand at the root, or below one of its keys.
const ForeignValue* nested_arguments(const ForeignValue& root) {
  const ForeignValue* best = nullptr;
  int most = 1;
  for (const ForeignEntry& entry : root.entries) {
    if (!entry.value.is_map()) continue;
    const Scored inner = best_kind(entry.value);
    if (inner.kind == ForeignKind::trainer && inner.known > most) {
      best = &entry.value;
      most = inner.known;
    }
  }
  return best;
}

bool is_scenario(const ForeignValue& root) {
  return root.find("model.config") != nullptr &&
         (root.find("cluster") != nullptr || root.find("parallel") != nullptr);
}

// The map below one of the keys, with references resolved: they may lead out of it.
Status take_nested(ForeignFile& file, bool is_yaml) {
  file.kind = ForeignKind::trainer;
  if (is_yaml) SHARDLAB_CHECK_OK(resolve_references(file.tree, file.warnings));
  const ForeignValue* const nested = nested_arguments(file.tree);
  if (nested == nullptr) return bad_input(in_file(file.path.string()), "is a circle of references");
  ForeignValue inner = *nested;
  file.tree = std::move(inner);
  return {};
}

Status recognize(ForeignFile& file, bool is_yaml = false) {
  const Scored best = best_kind(file.tree);
  const ForeignValue* const nested = nested_arguments(file.tree);
  if (is_scenario(file.tree))
    return bad_input(in_file(file.path.string()), "is a scenario of shardlab already",
                     "`shardlab export` writes it for other tools");
  if (is_axolotl(file.tree)) {
    file.kind = ForeignKind::axolotl;
    return {};
  }
  if (nested != nullptr && best.known < 2) return take_nested(file, is_yaml);
  if (best.known == 0)
    return bad_input(in_file(file.path.string()), "is no file of a tool that import knows",
                     "it knows accelerate, DeepSpeed, TrainingArguments, Axolotl, launch scripts and traces");
  file.kind = best.kind;
  if (is_yaml && file.kind == ForeignKind::trainer) return resolve_references(file.tree, file.warnings);
  return {};
}

// "run.sh:12" as its file and the line; nothing where there is a file of the whole name.
std::optional<std::pair<std::filesystem::path, int>> file_and_line(const std::filesystem::path& path) {
  const std::string text = path.string();
  const std::size_t colon = text.rfind(':');
  std::error_code error;
  if (colon == std::string::npos || std::filesystem::exists(path, error)) return std::nullopt;
  const auto line = parse_integer(std::string_view(text).substr(colon + 1));
  if (!line || *line < 1 || *line > 1'000'000) return std::nullopt;
  return std::pair(std::filesystem::path(text.substr(0, colon)), static_cast<int>(*line));
}

}  // namespace

Result<ForeignFile> parse_foreign_file(std::string text, const std::filesystem::path& name) {
  ForeignFile file;
  file.path = name;
  file.text = std::move(text);
  const std::size_t first = file.text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string::npos) return bad_input(in_file(name.string()), "is empty");
  if (file.text[first] == '{') {
    auto human = parse_foreign_json(file.text, name.string(), JsonForm::human);
    // Where a text is plain JSON but for its mistake, the plain reader says what the mistake is.
    const bool is_plain =
        file.text.find('#') == std::string::npos && file.text.find("//") == std::string::npos;
    if (!human && is_plain) human = parse_foreign_json(file.text, name.string(), JsonForm::strict);
    SHARDLAB_TRY(file.tree, std::move(human));
  } else if (is_launch_script(file.text)) {
    file.kind = ForeignKind::script;
    return file;
  } else {
    auto yaml = parse_python_yaml(file.text, name.string());
    // DeepSpeed's form of JSON may begin with a comment.
    const bool commented = file.text.compare(first, 2, "//") == 0 || file.text.compare(first, 2, "/*") == 0 ||
                           file.text[first] == '#';
    if (yaml.has_value() || !commented) {
      if (!yaml && name.extension() == ".json")
        return bad_input(yaml.error().place, "is no JSON: a map in braces", yaml.error().what);
      SHARDLAB_TRY(file.tree, std::move(yaml));
      SHARDLAB_CHECK_OK(recognize(file, true));
      return file;
    }
    auto human = parse_foreign_json(file.text, name.string(), JsonForm::human);
    SHARDLAB_TRY(file.tree, std::move(human));
  }
  SHARDLAB_CHECK_OK(recognize(file));
  return file;
}

Result<ForeignFile> read_foreign_file(const std::filesystem::path& path) {
  if (const auto with_line = file_and_line(path)) {
    SHARDLAB_TRY(ForeignFile file, read_foreign_file(with_line->first));
    file.line = with_line->second;
    return file;
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return bad_input(in_file(path.string()), "is a folder",
                     "name its files: those of one training are one case");
  SHARDLAB_TRY(std::string text, read_beginning(path, k_beginning));
  if (text.size() > k_largest)
    return bad_input(in_file(path.string()),
                     fmt::format("is larger than {} KiB: no configuration", k_largest / 1024));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (is_launch_script_name(path) && first != std::string::npos && text[first] != '{')
    return ForeignFile{path, ForeignKind::script, std::move(text), {}, {}, {}};
  return parse_foreign_file(std::move(text), path);
}

bool is_launch_script_name(const std::filesystem::path& name) {
  static constexpr std::string_view k_endings[] = {".sh", ".bash", ".sbatch", ".slurm"};
  return std::find(std::begin(k_endings), std::end(k_endings), name.extension().string()) !=
         std::end(k_endings);
}

bool is_profile(const std::filesystem::path& path) {
  const std::string text = read_beginning(path, k_beginning).value_or("");
  if (text.starts_with("\x1f\x8b")) return true;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  return is_json &&
         (text.size() > k_largest || text[first] == '[' || text.find("\"traceEvents\"") != std::string::npos);
}

}  // namespace shardlab
