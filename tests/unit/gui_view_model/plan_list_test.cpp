#include "gui/view_model/plan_list.h"

#include "tests/catch.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

// tiny-llama has few layers: this plan has more than ten of them.
StepPlan many_layers() {
  const auto scenario = read_scenario((source_folder() / "scenarios/first/tiny-llama.yaml").string(),
                                      std::vector<std::string>{"model.overrides.num_hidden_layers=32"});
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return planned->plan.steady;
}

std::vector<std::uint32_t> found(const StepPlan& plan, const std::string& query) {
  return matching_instructions(plan, search_texts(plan), {.query = query, .pass = {}});
}

}  // namespace

TEST_CASE("every instruction of the list says in words what it does, beside its name in the plan") {
  const auto plan = std::make_shared<const StepPlan>(hand_made_plan());
  const DataTable table = plan_table(plan);
  REQUIRE(table.columns.size() > 2);
  CHECK(table.columns[1].title == "what it does");
  CHECK(table.rows[2].cells[1].text == "backward of layer 0");
  CHECK(table.rows[2].cells[2].text == "Backward s0 mb0");
}

TEST_CASE("a search for a layer finds it, and not those whose numbers begin alike") {
  const StepPlan plan = many_layers();
  const PlanWords words(plan);
  const auto of_layer_3 = found(plan, "Layer 3");
  REQUIRE_FALSE(of_layer_3.empty());
  for (const std::uint32_t id : of_layer_3) {
    INFO(words.instruction(InstructionId{id}));
    CHECK(words.instruction(InstructionId{id}).find("layer 3") != std::string::npos);
    CHECK(words.instruction(InstructionId{id}).find("layer 30") == std::string::npos);
  }
  const auto backward = found(plan, "backward layer 3");
  REQUIRE(backward.size() == 1);
  CHECK(words.instruction(InstructionId{backward[0]}) == "backward of layer 3");
  CHECK(found(plan, "allgather layers.31").size() == 2);  // as before: kind and module
}

TEST_CASE("without a query nothing is searched") {
  const StepPlan plan = hand_made_plan();
  CHECK(matching_instructions(plan, {}, {.query = {}, .pass = {}}).size() == plan.instructions.size());
}
