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

// The words of the last command, in brackets.
std::string last_words(const std::string& script) {
  const auto read = parse_shell(script, "s.sh");
  if (!read) return to_string(read.error());
  if (read->commands.empty()) return {};
  std::string words;
  for (const ShellWord& word : read->commands.back().words) words += "[" + word.text + "]";
  return words;
}

TEST_CASE("variables outside quotes are split into words, quoted ones and values are not") {
  CHECK(last_words("A='--x 1'\nrun $A") == "[run][--x][1]");
  CHECK(last_words("A='--x 1'\nrun \"$A\"") == "[run][--x 1]");
  CHECK(last_words("A='1 2'\nB=$A\nrun -$B-") == "[run][-1][2-]");
  CHECK(last_words("A=\nrun $A x") == "[run][x]");
}

TEST_CASE("a placeholder is a word, and no redirection") {
  CHECK(last_words("run --out <your folder> --in <a_b>/c \\\n --x") ==
        "[run][--out][<your folder>][--in][<a_b>/c][--x]");
  CHECK(last_words("A=<path>\nrun $A") == "[run][$A]");
  for (const char* redirected : {"run <in >out", "run <in>out", "run < in > out", "run <in 2>&1", "run <in"})
    CHECK(last_words(redirected) == "[run]");
}

TEST_CASE("arrays are their words") {
  CHECK(last_words("A=(--x 1 # why\n  \"b c\")\nA+=(--y)\nrun \"${A[@]}\"") == "[run][--x][1][b c][--y]");
  CHECK(last_words("A=(1 2\nrun $A") == "s.sh:1:3: a parenthesis does not end");
}

TEST_CASE("values grow, have defaults in defaults, and are declared") {
  CHECK(last_words("A=1\nA+=2\nlocal B=$A\ndeclare -i C=3\nrun $B $C") == "[run][12][3]");
  CHECK(last_words("run ${A:-${B:-4}} ${C-\"x y\"}") == "[run][4][x][y]");
  CHECK(last_words("A=\nrun ${A:-5}") == "[run][5]");
}

TEST_CASE("arithmetic of what is known is reckoned, the rest stays as it is written") {
  CHECK(last_words("N=4\nrun $((N * (2 + 1) - 7 / 2))") == "[run][9]");
  CHECK(last_words("run $((UNKNOWN * 2))") == "[run][$((UNKNOWN * 2))]");
  CHECK(last_words("N=0\nrun $((1 / N)) $((9000000000000 * 2))") ==
        "[run][$((1 / N))][$((9000000000000 * 2))]");
}

TEST_CASE("redirections are no words") {
  CHECK(last_words("run a >log 2>&1 b < in &> all") == "[run][a][b]");
}

TEST_CASE("a here-document is the file that it is written to, with the script's variables") {
  const auto read =
      parse_shell("N=2\ncat <<EOT > ./d_$JOB.json\n{\"n\": $N, \"m\": \"it's\"}\nEOT\nrun", "s.sh");
  REQUIRE(read.has_value());
  REQUIRE(read->documents.contains(shell_path("./d_${JOB}.json")));
  const ShellWord& written = read->documents.at("d_$JOB.json");
  CHECK(written.text == "{\"n\": 2, \"m\": \"it's\"}\n");
  CHECK(written.place.line == 3);
  CHECK(read->commands.back().words.front().text == "run");
  CHECK(last_words("cat <<'E' > f\n$N 'open\nE\nrun") == "[run]");
  CHECK(last_words("cat <<E\nnever ended") == "[cat]");
}

TEST_CASE("Slurm's variables follow from the options") {
  const std::string head = "#SBATCH --nodes=2\n#SBATCH --gres=gpu:h100:4 # four\n#SBATCH -c 12\n";
  CHECK(last_words(head + "run $SLURM_NNODES $SLURM_GPUS_ON_NODE $SLURM_CPUS_PER_TASK") == "[run][2][4][12]");
}

TEST_CASE("scripts are known by a launcher behind settings of variables") {
  CHECK(is_launch_script("# why\nA=1 B='2' torchrun x.py\n"));
  CHECK(is_launch_script("NPROC_PER_NODE=4 \\\nswift sft \\\n"));
  CHECK_FALSE(is_launch_script("a: 1\ntrl_version: 2\n"));
}

}  // namespace
}  // namespace shardlab
