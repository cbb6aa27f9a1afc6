#include "engine/base/shipped_yaml.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/base/input_file.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// What a file was when it was parsed.
struct FileState {
  fs::file_time_type written;
  std::uintmax_t size = 0;

  friend bool operator==(const FileState&, const FileState&) = default;
};

class ParsedFiles {
 public:
  std::shared_ptr<const YamlNode> find(const std::string& file, const FileState& state) {
    const std::scoped_lock lock(mutex_);
    const auto known = trees_.find(file);
    return known != trees_.end() && known->second.first == state ? known->second.second : nullptr;
  }
  void keep(const std::string& file, const FileState& state, std::shared_ptr<const YamlNode> tree) {
    const std::scoped_lock lock(mutex_);
    trees_.insert_or_assign(file, std::pair(state, std::move(tree)));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<FileState, std::shared_ptr<const YamlNode>>> trees_;
};

ParsedFiles& parsed_files() {
  static ParsedFiles files;
  return files;
}

}  // namespace

Result<std::shared_ptr<const YamlNode>> read_shipped_yaml(const fs::path& file) {
  std::error_code written_unknown, size_unknown;
  const FileState state{fs::last_write_time(file, written_unknown), fs::file_size(file, size_unknown)};
  const bool known = !written_unknown && !size_unknown;
  const std::string name = file.string();
  if (known) {
    if (auto tree = parsed_files().find(name, state)) return tree;
  }
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_description_file));
  SHARDLAB_TRY(YamlNode root, parse_yaml(text, name));
  auto tree = std::make_shared<const YamlNode>(std::move(root));
  if (known) parsed_files().keep(name, state, tree);
  return tree;
}

}  // namespace shardlab
