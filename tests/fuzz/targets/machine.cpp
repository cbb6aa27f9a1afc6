// What a machine says of itself, each text behind "--- NAME".
#include <algorithm>

#include "engine/machine/read_facts.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_machine_texts(std::string_view bytes) {
  static const Result<KnownVariables> known = known_variables();
  promise(known.has_value(), "the variables that libraries read are known");
  RecordedMachine machine{"input", {}};
  std::string* text = nullptr;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view line = bytes.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("--- ")) {
      const std::size_t slash = line.find('/');
      text = &machine.texts[std::string(line.substr(slash == std::string_view::npos ? 4 : slash + 1))];
    } else if (text != nullptr) {
      text->append(line).push_back('\n');
    }
  }
  promise(visible_gpus(read_facts(machine, *known)) >= 0, "no machine has fewer GPUs than none");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
