#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace shardlab::fuzz {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot be read: " + file.string());
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<fs::path> files_of(const fs::path& path, std::string_view ending) {
  if (fs::is_regular_file(path)) return {path};
  if (!fs::is_directory(path)) throw std::runtime_error("no such place: " + path.string());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.is_regular_file() && entry.path().filename().string().ends_with(ending))
      files.push_back(entry.path());
  if (files.empty()) throw std::runtime_error("holds no seeds: " + path.string());
  std::sort(files.begin(), files.end());
  return files;
}

// What stands behind each line that begins with "===".
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (text.compare(begin, 3, "===") == 0)
      parts.emplace_back();
    else if (!parts.empty())
      parts.back().append(text, begin, end - begin);
    begin = end;
  }
  return parts;
}

void add_place(const SeedPlace& place, const fs::path& root, std::vector<Seed>& seeds) {
  for (const fs::path& file : files_of(root / place.path, place.ending)) {
    const std::string name = file.lexically_relative(root).string();
    const std::string bytes = bytes_of(file);
    if (place.form == SeedPlace::Form::whole) {
      seeds.push_back({name, bytes, place.verdict});
      continue;
    }
    const std::vector<std::string> parts = parts_of(bytes);
    for (std::size_t i = 0; i < parts.size(); ++i)
      seeds.push_back({name + ", part " + std::to_string(i + 1), parts[i], place.verdict});
  }
}

SeedPlace::Verdict verdict_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name == "taken") return SeedPlace::Verdict::taken;
  if (name == "refused") return SeedPlace::Verdict::refused;
  if (name == "survived") return SeedPlace::Verdict::any;
  throw std::runtime_error("neither taken, refused nor survived: " + folder.string());
}

}  // namespace

std::vector<Seed> seeds_of(const FuzzTarget& target, const fs::path& root) {
  std::vector<Seed> seeds;
  for (const SeedPlace& place : target.places) add_place(place, root, seeds);
  const fs::path corpus = root / "tests/fuzz/corpus" / target.name;
  if (fs::exists(corpus)) {
    for (const auto& folder : fs::directory_iterator(corpus)) {
      const std::string path = folder.path().lexically_relative(root).string();
      add_place({path, "", verdict_of(folder.path())}, root, seeds);
    }
  }
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.source < b.source; });
  const auto is_taken = [](const Seed& seed) { return seed.verdict == SeedPlace::Verdict::taken; };
  if (std::none_of(seeds.begin(), seeds.end(), is_taken))
    throw std::runtime_error(std::string(target.name) + " has no input that must be read");
  return seeds;
}

std::string dictionary_of(const std::vector<Seed>& seeds) {
  constexpr std::size_t k_shortest = 3, k_longest = 32, k_most = 1000;
  std::set<std::string> words;
  for (const Seed& seed : seeds) {
    std::string word;
    for (const char byte : seed.bytes + " ") {
      if (std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_') {
        word.push_back(byte);
        continue;
      }
      if (word.size() >= k_shortest && word.size() <= k_longest && words.size() < k_most) words.insert(word);
      word.clear();
    }
  }
  std::string text;
  for (const std::string& word : words) text += '"' + word + "\"\n";
  return text;
}

}  // namespace shardlab::fuzz
