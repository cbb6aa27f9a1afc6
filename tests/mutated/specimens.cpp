#include "tests/mutated/specimens.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace shardlab::test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// Files of a folder with one of the endings, in the order of their names.
std::vector<std::string> files_in(const fs::path& folder, const std::vector<std::string>& endings) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".scenario.") != std::string::npos) continue;
    const auto fits = [&](const std::string& ending) { return name.ends_with(ending); };
    if (std::any_of(endings.begin(), endings.end(), fits)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw std::runtime_error("no files in " + folder.string());
  std::vector<std::string> texts;
  for (const fs::path& file : files) texts.push_back(content_of(file));
  return texts;
}

// The messages of a file, each behind a line that begins with "===".
std::vector<std::string> messages_in(const fs::path& file) {
  std::vector<std::string> messages;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("==="))
      messages.emplace_back();
    else if (!messages.empty())
      messages.back() += line + "\n";
  }
  return messages;
}

}  // namespace

std::vector<Kind> specimens(const fs::path& source, const fs::path& folder) {
  const fs::path data = source / "tests/data", imports = data / "imports";
  const std::string runs = (folder / "runs.db").string();
  fs::copy(imports / "good", folder,
           fs::copy_options::overwrite_existing | fs::copy_options::recursive);  // files that others name
  const std::vector<std::string> onto = {"import", "FILE", "--onto", (imports / "base.yaml").string()};
  return {
      {"scenario", ".yaml", {"scenario", "FILE", "--write"}, files_in(source / "scenarios/first", {".yaml"})},
      {"import_yaml", ".yaml", onto, files_in(imports / "good", {".yaml"})},
      {"import_json", ".json", onto, files_in(imports / "good", {".json"})},
      {"import_shell", ".sh", onto, files_in(imports / "good", {".sh", ".sbatch"})},
      {"log", ".log", {"doctor", "FILE", "--as", "log"}, messages_in(data / "doctor/messages.txt")},
      {"doctor_yaml", ".yaml", {"doctor", "FILE", "--as", "files"}, files_in(imports / "bad", {".yaml"})},
      {"doctor_json", ".json", {"doctor", "FILE", "--as", "files"}, files_in(imports / "bad", {".json"})},
      {"flight",
       "_0",
       {"doctor", "FILE", "--as", "flight"},
       files_in(data / "doctor/flight/skips_one", {"_0", "_1", "_2"})},
      {"operations",
       ".json",
       {"replay", "FILE"},
       files_in(data / "allocator", {"_4.json", "ge.json", "ry.json"})},
      {"pickle", ".pickle", {"replay", "FILE"}, files_in(data / "allocator", {".pickle"})},
      {"trace", ".json", {"import", "FILE", "--db", runs}, files_in(data / "profiler", {".json"})},
      {"packed_trace",
       ".json.gz",
       {"import", "FILE", "--db", runs},
       files_in(data / "profiler", {"fsdp2.json.gz"})},
      {"database", ".db", {"show", "r1", "--db", "FILE"}, {content_of(folder / "sound.db")}},
  };
}

}  // namespace shardlab::test
