// Scripts whose words grow: each is refused before it takes memory.
#include "engine/formats/launchers/shell_commands.h"

#include <string>

#include "tests/catch.h"

namespace shardlab {
namespace {

std::string complaint(const std::string& script) {
  const auto read = parse_shell(script, "s.sh");
  return read ? "none" : to_string(read.error());
}

TEST_CASE("a variable that doubles is refused where it becomes too long") {
  std::string script = "A=xxxxxxxx\n";
  for (int i = 0; i < 40; ++i) script += "A=\"$A$A\"\n";
  CHECK(complaint(script) == "s.sh:14:1: is longer than any word of a launch script");
}

TEST_CASE("words of every kind of quotes have one limit") {
  const std::string long_text(70'000, 'x');
  for (const std::string& word :
       {long_text, "'" + long_text + "'", "\"" + long_text + "\"", "${A:-" + long_text + "}",
        "$(" + long_text + ")", "`" + long_text + "`", "\n#SBATCH " + long_text})
    CHECK(complaint("run " + word).find("longer than any word") != std::string::npos);
  CHECK(complaint("run \"" + std::string(60'000, 'x') + "\"") == "none");
}

TEST_CASE("many long words are refused as well") {
  std::string script = "A=" + std::string(60'000, 'x') + "\n";
  for (int i = 0; i < 10'000; ++i) script += "run $A\n";
  CHECK(complaint(script).find("longer than any word") != std::string::npos);
}

}  // namespace
}  // namespace shardlab
