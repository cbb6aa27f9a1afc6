#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/yaml.h"
#include "engine/cli/lessons/walk_lesson.h"

namespace shardlab {

Result<std::vector<std::vector<std::string>>> read_answers(const std::string& file) {
  constexpr FileKind k_answers_file{"list of answers", std::int64_t{256} << 10};
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_answers_file));
  SHARDLAB_TRY(const YamlNode root, parse_yaml(text, file));
  if (!root.is_sequence())
    return bad_input(in_file(file), fmt::format("expected a list of answers, found {}", describe(root.kind)),
                     "[b, 81 MiB, c a b]");
  std::vector<std::vector<std::string>> answers;
  for (const YamlNode& item : root.items) {
    const std::vector<YamlNode> attempts = item.is_sequence() ? item.items : std::vector<YamlNode>{item};
    std::vector<std::string>& texts = answers.emplace_back();
    for (const YamlNode& attempt : attempts) {
      if (!attempt.is_scalar())
        return bad_input(attempt.place, fmt::format("expected an answer, found {}", describe(attempt.kind)));
      texts.push_back(attempt.text);
    }
  }
  return answers;
}

}  // namespace shardlab
