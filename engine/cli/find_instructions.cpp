#include "engine/cli/find_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <sstream>

#include "engine/base/lower_case.h"
#include "engine/base/parse.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// At the borders of words: "layer 3" is no part of "layer 30".
bool contains(const std::string& text, const std::string& phrase) {
  for (std::size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase, at + 1)) {
    const std::size_t end = at + phrase.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// Everything that an instruction is called but its number.
std::vector<std::string> names_of(const StepPlan& step, const PlanWords& words, InstructionId id) {
  const Instruction& self = step.instruction(id);
  const std::string label = instruction_label(step, id);
  std::vector<std::string> names = {in_lower_case(label.substr(label.find(' ') + 1)),
                                    in_lower_case(words.instruction(id)),
                                    in_lower_case(step.streams[self.stream.index()].name)};
  if (!self.unit) return names;
  const PlanUnit& unit = step.units[self.unit->index()];
  names.push_back(in_lower_case(unit.name));
  names.push_back(in_lower_case(unit.module_path));
  return names;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool in_one(const std::vector<std::string>& names, const std::string& phrase) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return contains(name, phrase); });
}

std::vector<InstructionId> matching(const StepPlan& step, const std::vector<std::string>& phrases) {
  const PlanWords words(step);
  std::vector<InstructionId> found;
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    const auto id = make_id<InstructionId>(i);
    const std::vector<std::string> names = names_of(step, words, id);
    if (std::all_of(phrases.begin(), phrases.end(),
                    [&](const std::string& phrase) { return in_one(names, phrase); }))
      found.push_back(id);
  }
  return found;
}

// The highest number of a layer in the words of the step; nothing where there are no layers.
std::optional<std::int64_t> last_layer(const StepPlan& step) {
  const PlanWords words(step);
  std::optional<std::int64_t> last;
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    const std::vector<std::string> said = words_of(words.instruction(make_id<InstructionId>(i)));
    for (std::size_t k = 0; k + 1 < said.size(); ++k)
      if (const auto number = parse_integer(said[k + 1]); number && said[k] == "layer")
        last = std::max(last.value_or(0), *number);
  }
  return last;
}

// "mlp of layer 3" lies within instructions; those of the layer are named then.
std::string near_it(const StepPlan& step, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "layer" || !parse_integer(words[i + 1])) continue;
    const std::string layer = words[i] + " " + words[i + 1];
    if (!matching(step, {"forward of " + layer}).empty())
      return fmt::format(
          "what lies within a layer has no instruction of its own: 'forward of {0}', 'backward of {0}'; "
          "shardlab model lists the operators",
          layer);
    if (const auto last = last_layer(step)) return fmt::format("there are layer 0 to layer {}", *last);
  }
  return "a number, or words as in 'AllGather', 'u1', 'backward of layer 3'; shardlab plan lists all";
}

}  // namespace

Result<std::vector<InstructionId>> find_instructions(const StepPlan& step, const std::string& text) {
  const auto count = static_cast<std::int64_t>(step.instructions.size());
  if (const auto number = parse_integer(text)) {
    if (*number >= 0 && *number < count)
      return std::vector{make_id<InstructionId>(static_cast<std::size_t>(*number))};
    return bad_input("--explain", fmt::format("no instruction {}: the {} plan has 0 to {}", text,
                                              to_string(step.phase), count - 1));
  }
  const std::vector<std::string> words = words_of(in_lower_case(text));
  std::string phrase;
  for (const std::string& word : words) phrase += (phrase.empty() ? "" : " ") + word;
  std::vector<InstructionId> found;
  if (!words.empty()) found = matching(step, {phrase});
  if (found.empty() && words.size() > 1) found = matching(step, words);
  if (!found.empty()) return found;
  return bad_input("--explain",
                   fmt::format("no instruction of the {} plan is called '{}'", to_string(step.phase), text),
                   near_it(step, words));
}

std::string other_matches(const StepPlan& step, const std::vector<InstructionId>& found) {
  constexpr std::size_t k_named = 12;
  if (found.size() < 2) return "";
  const PlanWords words(step);
  std::string text = fmt::format("\n{} more of this name\n", found.size() - 1);
  for (std::size_t i = 1; i < found.size() && i <= k_named; ++i)
    text += fmt::format("  {:<28} {}\n", instruction_label(step, found[i]), words.instruction(found[i]));
  if (found.size() - 1 > k_named) text += fmt::format("  and {} others\n", found.size() - 1 - k_named);
  return text;
}

}  // namespace shardlab
