// A launch script as commands, and the launcher's options in it.
#include "engine/formats/launchers/launch_script.h"
#include "engine/formats/launchers/shell_commands.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_shell_script(std::string_view bytes) {
  (void)is_launch_script(bytes);
  const Result<ShellScript> script = parse_shell(bytes, "input.sh");
  if (!script) return answer_of(script);
  Problems problems;
  const Result<LaunchScript> launched = parse_launch_script(bytes, "input.sh", std::nullopt, problems);
  if (launched) (void)launched_ranks(*launched);
  return answer_of(launched);
}

}  // namespace shardlab::fuzz
