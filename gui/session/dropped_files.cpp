#include "gui/session/dropped_files.h"

#include <string>

#include "engine/base/input_file.h"
#include "engine/base/yaml.h"
#include "engine/formats/imports/foreign_file.h"
#include "gui/session/examined_log.h"
#include "gui/session/text_file.h"
#include "gui/session/trace_import.h"

namespace shardlab::gui {
namespace {

DroppedFile examine_json(const std::filesystem::path& file) {
  if (looks_like_trace(file)) return {DroppedKind::trace};
  const auto text = read_text_file(file);
  if (!text) return {DroppedKind::unknown, text.error()};
  if (scenario_around(*text, file)) return {DroppedKind::model};
  const auto read = read_foreign_file(file);
  if (read) return {DroppedKind::configuration};
  // A map with a mistake at a line may be a tool's; without a line it is none's.
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  const bool is_map = first != std::string::npos && (*text)[first] == '{';
  if (is_map && read.error().place.line > 0) return {DroppedKind::unknown, read.error()};
  return {};
}

// Sections that scenarios alone have make it one, whatever its mistakes are.
bool has_sections_of_scenarios(const auto& tree) {
  return tree.find("cluster") != nullptr || tree.find("parallel") != nullptr;
}

bool is_yaml_configuration(const std::filesystem::path& file) {
  const auto read = read_foreign_file(file);
  return read && !has_sections_of_scenarios(read->tree);
}

// Whatever its name ends with.
bool is_scenario(const std::filesystem::path& file) {
  const auto text = read_text_file(file);
  if (!text) return false;
  const auto tree = parse_yaml(*text, file.string());
  return tree && has_sections_of_scenarios(*tree);
}

// Logs repeat the commands that wrote them, so that a script is known by its name or by its first bytes.
bool is_script(const std::filesystem::path& file) {
  constexpr FileKind k_first_bytes{"script", 2};
  return is_launch_script_name(file) || read_beginning(file, k_first_bytes).value_or("") == "#!";
}

}  // namespace

DroppedFile examine_dropped(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".db") return {DroppedKind::database};
  if (ending == ".gz") return {looks_like_trace(file) ? DroppedKind::trace : DroppedKind::unknown};
  if (ending == ".json") return examine_json(file);
  if (ending == ".yaml" || ending == ".yml")
    return {is_yaml_configuration(file) ? DroppedKind::configuration : DroppedKind::scenario};
  if (is_script(file)) return {DroppedKind::configuration};
  if (is_scenario(file)) return {DroppedKind::scenario};
  return {looks_like_log(file) ? DroppedKind::log : DroppedKind::unknown};
}

}  // namespace shardlab::gui
