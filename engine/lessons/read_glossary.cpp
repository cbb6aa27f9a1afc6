#include <algorithm>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/paths.h"
#include "engine/lessons/lesson_reader.h"
#include "engine/lessons/word_list.h"

namespace shardlab::lessons {
namespace {

constexpr FileKind k_glossary_file{"glossary", std::int64_t{256} << 10};

GlossaryWord read_word(const YamlNode& node, const std::string& name, LessonReader& reader) {
  GlossaryWord word;
  word.place = node.place;
  if (!reader.is_section(node, name, {"word", "means", "look"}, {"also", "ordinary"})) return word;
  word.names = reader.words(node, "word", name);
  word.also = reader.words(node, "also", name);
  word.ordinary = reader.words(node, "ordinary", name);
  for (const std::string& ordinary : word.ordinary) {
    const auto is_it = [&](const std::string& its) { return its == ordinary; };
    if (std::none_of(word.names.begin(), word.names.end(), is_it) &&
        std::none_of(word.also.begin(), word.also.end(), is_it))
      reader.refuse(node.place, name + ".ordinary", fmt::format("'{}' is no name of this word", ordinary));
  }
  word.meaning = reader.word(node, "means", name);
  if (const YamlNode* const look = node.find("look")) word.look = read_look(*look, name + ".look", reader);
  return word;
}

GlossarySection read_section(const YamlNode& node, const std::string& name, LessonReader& reader) {
  GlossarySection section;
  if (!reader.is_section(node, name, {"title", "column", "words"})) return section;
  section.title = reader.word(node, "title", name);
  section.column = reader.word(node, "column", name);
  for (const YamlNode& word : reader.list(node, "words", name))
    section.words.push_back(
        read_word(word, fmt::format("{}.words[{}]", name, section.words.size() + 1), reader));
  return section;
}

void check_looks(const Glossary& glossary, LessonReader& reader) {
  for (const GlossarySection& section : glossary.sections) {
    for (const GlossaryWord& word : section.words) {
      for (const std::string& scenario : word.look.scenarios) {
        if (glossary.frame.find_scenario(scenario) == nullptr)
          reader.refuse(word.place, word.names.empty() ? "" : word.names.front(),
                        fmt::format("there is no scenario '{}'", scenario));
      }
    }
  }
}

std::string listed(const GlossaryWord& word) {
  return fmt::format("{}", fmt::join(word.names, ", "));
}

// A bar would end the cell.
std::string in_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

}  // namespace

Result<Glossary> read_glossary(const std::filesystem::path& file) {
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_glossary_file));
  SHARDLAB_TRY(YamlNode root, parse_yaml(text, file.string()));
  if (root.is_null()) root.place = in_file(file.string());
  Problems problems;
  LessonReader reader(problems);
  Glossary glossary;
  glossary.frame.folder = file.parent_path();
  glossary.frame.name = "glossary";
  glossary.frame.place = in_file(file.string());
  if (reader.is_section(root, "", {"about", "scenarios", "sections"})) {
    glossary.about = reader.word(root, "about", "");
    if (const YamlNode* const scenarios = root.find("scenarios"))
      glossary.frame.scenarios = read_lesson_scenarios(*scenarios, reader);
    for (const YamlNode& node : reader.list(root, "sections", ""))
      glossary.sections.push_back(
          read_section(node, fmt::format("sections[{}]", glossary.sections.size() + 1), reader));
    check_looks(glossary, reader);
  }
  SHARDLAB_CHECK_OK(problems.status());
  return glossary;
}

Result<Glossary> shipped_glossary() {
  SHARDLAB_TRY(const std::filesystem::path file, find_scenario("lessons/words/words.yaml"));
  return read_glossary(file);
}

std::string glossary_page(const Glossary& glossary) {
  std::string page = "# Glossary\n\n" + glossary.about;
  for (const GlossarySection& section : glossary.sections) {
    page += fmt::format("\n## {}\n\n| Word | {} |\n| --- | --- |\n", section.title, section.column);
    for (const GlossaryWord& word : section.words)
      page += fmt::format("| {} | {} |\n", listed(word), in_cell(word.meaning));
  }
  return page;
}

}  // namespace shardlab::lessons
