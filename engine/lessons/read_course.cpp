#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/lessons/course.h"
#include "engine/lessons/lesson_reader.h"

namespace shardlab::lessons {
namespace {

namespace fs = std::filesystem;

constexpr FileKind k_course_file{"course", std::int64_t{64} << 10};

CoursePart read_part(const YamlNode& node, const std::string& name, const fs::path& folder,
                     LessonReader& reader) {
  CoursePart part;
  if (!reader.is_section(node, name, {"title", "about", "lessons"}, {"coming"})) return part;
  part.title = reader.word(node, "title", name);
  part.about = reader.word(node, "about", name);
  part.lessons = reader.words(node, "lessons", name);
  for (const std::string& lesson : part.lessons) {
    std::error_code ignored;
    if (!fs::exists(folder / lesson / "lesson.yaml", ignored))
      reader.refuse(node.place, name,
                    fmt::format("there is no {}", (folder / lesson / "lesson.yaml").string()));
  }
  for (const YamlNode& coming : reader.list(node, "coming", name)) {
    if (!reader.is_section(coming, name + ".coming", {"title", "waits"})) continue;
    part.coming.push_back(
        {reader.word(coming, "title", name + ".coming"), reader.word(coming, "waits", name + ".coming")});
  }
  return part;
}

bool is_lesson_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / "lesson.yaml", ignored);
}

// "3" and "03" for 03-three-cuts.
bool has_number(const std::string& lesson, const std::string& text) {
  const bool number = !text.empty() && text.size() <= 3 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (!number || lesson.empty() || std::isdigit(static_cast<unsigned char>(lesson[0])) == 0) return false;
  return std::stoi(lesson) == std::stoi(text);
}

}  // namespace

std::vector<std::string> Course::lessons() const {
  std::vector<std::string> names;
  for (const CoursePart& part : parts) names.insert(names.end(), part.lessons.begin(), part.lessons.end());
  return names;
}

Result<Course> read_course(const fs::path& folder) {
  const fs::path file = folder / "course.yaml";
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_course_file));
  SHARDLAB_TRY(YamlNode root, parse_yaml(text, file.string()));
  if (root.is_null()) root.place = in_file(file.string());
  Problems problems;
  LessonReader reader(problems);
  Course course{folder, {}};
  if (reader.is_section(root, "", {"parts"})) {
    for (const YamlNode& node : reader.list(root, "parts", ""))
      course.parts.push_back(
          read_part(node, fmt::format("parts[{}]", course.parts.size() + 1), folder, reader));
  }
  SHARDLAB_CHECK_OK(problems.status());
  return course;
}

Result<Course> shipped_course() {
  SHARDLAB_TRY(const fs::path file, find_scenario("lessons/course.yaml"));
  return read_course(file.parent_path());
}

Result<fs::path> find_lesson(const Course& course, const std::string& text) {
  const std::vector<std::string> names = course.lessons();
  for (const std::string& name : names) {
    if (name == text || has_number(name, text)) return course.folder / name;
  }
  if (is_lesson_folder(text)) return fs::path(text);
  std::error_code ignored;
  if (fs::is_directory(text, ignored))
    return bad_input(in_file(text), "there is no lesson.yaml in this folder");
  std::vector<std::string> holding;
  for (const std::string& name : names) {
    if (!text.empty() && name.find(text) != std::string::npos) holding.push_back(name);
  }
  if (holding.size() == 1) return course.folder / holding.front();
  if (holding.size() > 1)
    return bad_input("lesson", fmt::format("'{}' may be {}", text, fmt::join(holding, " or ")));
  return bad_input("lesson", fmt::format("there is no lesson '{}'", text),
                   nearest_name(text, names)
                       ? suggestion(text, names)
                       : "`shardlab lesson` lists them; a folder with a lesson.yaml is one too");
}

}  // namespace shardlab::lessons
