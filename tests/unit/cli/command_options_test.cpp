#include "engine/cli/command_options.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

struct Parsed {
  Result<bool> help = false;
  CommonOptions options;
  std::string scenario;
};

Parsed parse(std::vector<std::string> arguments, CommonUse use = {.database = true, .overrides = true}) {
  Parsed parsed;
  OptionParser parser("shardlab test", "a command", "");
  parser.value("scenario", parsed.scenario, "file").required();
  add_common_options(parser, use, parsed.options);
  parsed.help = parser.parse(arguments);
  return parsed;
}

TEST_CASE("common options are read wherever they stand") {
  const Parsed parsed = parse({"--json", "a.yaml", "--set", "a.b=1", "--db=x.db", "--set", "c=[1, 2]"});
  REQUIRE(parsed.help);
  CHECK_FALSE(*parsed.help);
  CHECK(parsed.scenario == "a.yaml");
  CHECK(parsed.options.json);
  CHECK(parsed.options.database == "x.db");
  CHECK(parsed.options.overrides == std::vector<std::string>{"a.b=1", "c=[1, 2]"});
}

TEST_CASE("an option with one value leaves what follows as an argument") {
  const Parsed parsed = parse({"--set", "a=1", "a.yaml"});
  REQUIRE(parsed.help);
  CHECK(parsed.scenario == "a.yaml");
  CHECK(parsed.options.overrides.size() == 1);
}

TEST_CASE("an unknown option names the nearest one, even when an argument is missing too") {
  const Parsed parsed = parse({"--jsno"});
  REQUIRE_FALSE(parsed.help);
  CHECK(parsed.help.error().kind == ErrorKind::bad_input);
  CHECK(where_text(parsed.help.error()) == "shardlab test");
  CHECK(parsed.help.error().what == "unknown option '--jsno'");
  CHECK(parsed.help.error().hint == "did you mean '--json'?");
}

TEST_CASE("an option that the command does not use is unknown to it") {
  CHECK_FALSE(parse({"a.yaml", "--set", "a=1"}, {.database = true}).help);
  CHECK_FALSE(parse({"a.yaml", "--db", "x"}, {.overrides = true}).help);
}

TEST_CASE("usage mistakes are bad input, not exceptions") {
  CHECK(parse({}).help.error().kind == ErrorKind::bad_input);
  CHECK(parse({"a.yaml", "--db"}).help.error().kind == ErrorKind::bad_input);
  CHECK(parse({"a.yaml", "b.yaml"}).help.error().what == "unexpected argument 'b.yaml'");
  CHECK(parse({"a.yaml", "-x"}).help.error().what == "unknown option '-x'");
}

TEST_CASE("asking for help needs no arguments") {
  const Parsed parsed = parse({"--help"});
  REQUIRE(parsed.help);
  CHECK(*parsed.help);
}

}  // namespace
}  // namespace shardlab
