#include "engine/cli/commands/meant_command.h"

#include <algorithm>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("commands of other names lead to commands that there are, and are none themselves") {
  const auto commands = make_commands();
  const auto is_one = [&](std::string_view name) {
    return std::any_of(commands.begin(), commands.end(),
                       [&](const auto& command) { return command->name() == name; });
  };
  for (const OtherCommand& each : other_commands()) {
    CAPTURE(each.theirs);
    CHECK(is_one(each.ours));
    CHECK((each.also.empty() || is_one(each.also)));
    CHECK_FALSE(is_one(each.theirs));
  }
}

TEST_CASE("an unknown command is taken by what it means, then by how it is spelt") {
  const auto commands = make_commands();
  const auto hint = [&](std::string_view name) { return hint_for_command(name, commands); };
  CHECK_THAT(hint("compare"), test::contains_text("did you mean 'diff' (Two runs or scenarios side by side"));
  CHECK_THAT(hint("train"), test::contains_text("did you mean 'run' ("));  // "trace" is spelt more alike
  CHECK_THAT(hint("Tune"), test::contains_text("did you mean 'search' ("));
  CHECK_THAT(hint("plot"), test::contains_text(" or 'explain' ("));
  CHECK(hint("simulte") == "did you mean 'simulate'?");
  CHECK_THAT(hint("frobnicate"), test::contains_text("known: model, plan,"));
}

}  // namespace
}  // namespace shardlab
