#include "engine/hardware/catalogue.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "engine/base/folder.h"
#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"

namespace shardlab {

namespace {

namespace fs = std::filesystem;

Result<YamlNode> read_aliases(std::string_view folder) {
  SHARDLAB_TRY(const fs::path file, find_asset("hardware/aliases.yaml"));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> all, read_shipped_yaml(file));
  const YamlNode* const aliases = all->find(folder);
  return aliases != nullptr ? *aliases : YamlNode();
}

Result<std::vector<std::string>> listed_names(const fs::path& folder) {
  SHARDLAB_TRY(const std::vector<fs::path> paths, paths_in(folder));
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    if (path.extension() == ".yaml") names.push_back(path.stem().string());
  }
  return names;
}

// Names by folder, with the time at which a file last came to it or went.
class ListedFolders {
 public:
  std::optional<std::vector<std::string>> find(const std::string& folder, fs::file_time_type changed) {
    const std::scoped_lock lock(mutex_);
    const auto known = names_.find(folder);
    if (known == names_.end() || known->second.first != changed) return std::nullopt;
    return known->second.second;
  }
  void keep(const std::string& folder, fs::file_time_type changed, const std::vector<std::string>& names) {
    const std::scoped_lock lock(mutex_);
    names_.insert_or_assign(folder, std::pair(changed, names));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<fs::file_time_type, std::vector<std::string>>> names_;
};

ListedFolders& listed_folders() {
  static ListedFolders folders;
  return folders;
}

// File systems count time in steps: what comes to a folder right after it was listed may leave its time as it
// was.
bool has_rested(fs::file_time_type changed) {
  return fs::file_time_type::clock::now() - changed > std::chrono::seconds(2);
}

// Names of the descriptions in the folder, sorted. A search asks for the same folder thousands of times: it
// is listed once, and again when it has changed.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::error_code unknown;
  const fs::file_time_type changed = fs::last_write_time(folder, unknown);
  const std::string name = folder.string();
  if (!unknown) {
    if (auto names = listed_folders().find(name, changed)) return *std::move(names);
  }
  SHARDLAB_TRY(std::vector<std::string> names, listed_names(folder));
  if (!unknown && has_rested(changed)) listed_folders().keep(name, changed, names);
  return names;
}

}  // namespace

std::vector<std::string> described_names(std::string_view folder) {
  const auto path = find_asset(fmt::format("hardware/{}", folder));
  return path ? names_in(*path).value_or(std::vector<std::string>()) : std::vector<std::string>();
}

Result<fs::path> find_description(std::string_view folder, std::string_view name, std::string_view noun) {
  SHARDLAB_TRY(const fs::path path, find_asset(fmt::format("hardware/{}", folder)));
  SHARDLAB_TRY(std::vector<std::string> known, names_in(path));
  const std::string wanted = in_lower_case(name);
  const auto is_wanted = [&](const std::string& candidate) { return in_lower_case(candidate) == wanted; };
  if (const auto found = std::find_if(known.begin(), known.end(), is_wanted); found != known.end())
    return path / (*found + ".yaml");

  SHARDLAB_TRY(const YamlNode aliases, read_aliases(folder));
  for (const YamlEntry& alias : aliases.entries) {
    if (is_wanted(alias.key)) return path / (alias.value.text + ".yaml");
    known.push_back(alias.key);
  }
  // Nearest regardless of case, among names and aliases; without a near one the names alone.
  std::vector<std::string> lowered;
  for (const std::string& candidate : known) lowered.push_back(in_lower_case(candidate));
  std::string hint = suggestion(name, described_names(folder));
  if (const auto nearest = nearest_name(wanted, lowered)) {
    const auto index = std::find(lowered.begin(), lowered.end(), *nearest) - lowered.begin();
    hint = fmt::format("did you mean '{}'?", known[static_cast<std::size_t>(index)]);
  }
  return bad_input({}, fmt::format("unknown {} '{}'", noun, name), hint);
}

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ' || c == '-') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

bool is_device_called(std::string_view name, std::string_view reported) {
  const std::string wanted(name.substr(0, name.find('-')));
  const std::vector<std::string> words = words_of(reported);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == wanted || (i + 1 < words.size() && words[i] + words[i + 1] == wanted)) return true;
  }
  return false;
}

}  // namespace shardlab
