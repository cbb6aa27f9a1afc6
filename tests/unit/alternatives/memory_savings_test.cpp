#include "simulator/alternatives/memory_savings.h"

#include <algorithm>
#include <set>

#include "engine/report/explain_memory/explained_memory.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/alternatives/predict_with.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/alternatives/predicted_scenario.h"

namespace shardlab {
namespace {

struct Predicted {
  PlannedScenario planned;
  RunSummary run;
};

Predicted predict(const std::string& file, const std::vector<std::string>& settings = {}) {
  const auto scenario = read_scenario((test::source_folder() / file).string(), settings);
  test::PredictedScenario made = test::predicted_scenario(scenario);
  return {std::move(made.planned), std::move(made.run)};
}

void check_rows(const Predicted& predicted) {
  const ExplainedMemory explained =
      explain_memory(predicted.planned, predicted.planned.plan.steady, predicted.run, {});
  Bytes peak;
  for (const MemoryRow& row : explained.rows) {
    INFO(row.alive.what);
    Bytes sum;
    for (const MemoryPart& part : row.parts) {
      INFO(part.what << " " << to_text(part.formula));
      CHECK(part.what != "not told apart");
      for (const ByteProduct& product : part.formula) {
        std::int64_t above = 1, below = 1;
        for (const Factor& each : product.factors) above *= each.value;
        for (const Factor& each : product.divisors) below *= each.value;
        CHECK(above % below == 0);
      }
      sum += part.bytes();
    }
    CHECK(sum == row.alive.bytes);
    peak += row.alive.bytes;
  }
  CHECK(peak == predicted.run.memory->peak_allocated);
  CHECK(explained.sum.lines.front().bytes == peak);
}

const std::string k_llama = "scenarios/first/llama3-8b-fsdp2-8xh100.yaml";

}  // namespace

TEST_CASE("every row of a peak is reckoned from the scenario's numbers, to the byte") {
  for (const char* file :
       {"scenarios/first/tiny-llama.yaml", "scenarios/first/tiny-llama-ddp.yaml",
        "scenarios/first/tiny-llama-none.yaml", "scenarios/first/tiny-llama-accumulation.yaml",
        "scenarios/first/tiny-llama-bf16.yaml", "scenarios/first/llama3.1-70b-lora-8xh100.yaml",
        "scenarios/distillation/tiny-llama-distilled.yaml",
        "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml", "scenarios/gpu/llama-1b.yaml"}) {
    INFO(file);
    check_rows(predict(file));
  }
  for (const char* strategy : {"fsdp1", "fsdp2", "native"}) {
    const std::string its = std::string("parallel.strategy=") + strategy;
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{},
          {"activation.checkpoint=full"},
          {"model.implementation=fused"},
          {"cluster={node: hgx-h100, gpus_per_node: 3}"},
          {"train.accumulation=3"},
          {"model.config=gpt2", "model.sequence_length=512", "parallel.wrap={}"},
          {"model.config=llama-3.2-1b", "train.optimizer_implementation=foreach"}}) {
      std::vector<std::string> settings = {its};
      settings.insert(settings.end(), more.begin(), more.end());
      INFO(its << (more.empty() ? "" : " " + more.front()));
      check_rows(predict(k_llama, settings));
    }
  }
}

TEST_CASE("a row says how many bytes of what") {
  const Predicted predicted = predict(k_llama);
  const auto rows = memory_rows(predicted.planned, predicted.planned.plan.steady, *predicted.run.memory);
  const auto formula = [&](const std::string& what, const std::string& part) {
    for (const MemoryRow& row : rows)
      for (const MemoryPart& each : row.parts)
        if (row.alive.what == what && each.what == part) return to_text(each.formula) + ", " + each.made_by;
    return std::string("no such part");
  };
  CHECK(formula("parameter shards of 32 layers", "") ==
        "4 bytes x 218,112,000 parameters x 32 layers / 8 ranks, ");
  CHECK(formula("saved activations of 32 layers", "gate") ==
        "2 bytes x 4,096 tokens x 14,336 feed-forward x 32 layers, linear");
  CHECK(formula("gathered parameters of the root unit", "") == "2 bytes x 1,050,677,248 parameters, ");
}

TEST_CASE("padding is said") {
  const Predicted predicted = predict(k_llama, {"cluster={node: hgx-h100, gpus_per_node: 3}"});
  const auto rows = memory_rows(predicted.planned, predicted.planned.plan.steady, *predicted.run.memory);
  const auto shards = std::find_if(rows.begin(), rows.end(), [](const MemoryRow& row) {
    return row.alive.what == "parameter shards of 32 layers";
  });
  REQUIRE(shards != rows.end());
  CHECK_THAT(to_text(shards->parts.front().formula), test::contains_text("of padding"));
}

TEST_CASE("a setting's gain is that of predicting it, and what gains nothing is left out") {
  const Predicted predicted = predict(k_llama);
  const std::vector<MemorySaving> savings =
      predict_savings(predicted.planned, predicted.run, nullptr).value();
  REQUIRE(savings.size() >= 3);
  CHECK(savings.front().setting == "activation.checkpoint=full");
  Bytes last = savings.front().gain;
  for (const MemorySaving& each : savings) {
    INFO(each.setting);
    const auto again = predict_with(predicted.planned, each.setting, nullptr);
    REQUIRE_OK(again);
    CHECK(each.peak_allocated == again->run.memory->peak_allocated);
    CHECK(each.gain == *predicted.run.memory->peak_device - *again->run.memory->peak_device);
    CHECK(each.step_time == again->run.step_time.median);
    CHECK(each.gain > Bytes{});
    CHECK(each.comparison == (each.setting == "model.implementation=fused"));
    CHECK((each.comparison || each.gain <= last));
    last = each.gain;
  }
  CHECK(savings.back().comparison);  // with a larger gain than others
  CHECK(predict_savings(predicted.planned, predicted.run, nullptr, [] { return false; }).value().empty());
}

TEST_CASE("attention with all its scores in memory is proposed to become one kernel") {
  const Predicted predicted = predict(k_llama, {"model.attention=eager"});
  const auto savings = predict_savings(predicted.planned, predicted.run, nullptr);
  REQUIRE_OK(savings);
  const auto one = std::find_if(savings->begin(), savings->end(), [](const MemorySaving& each) {
    return each.setting == "model.attention=auto";
  });
  REQUIRE(one != savings->end());
  CHECK(one->peak_allocated == predict(k_llama).run.memory->peak_allocated);
}

TEST_CASE("gaps between blocks have a setting of their own, where it is not set already") {
  const std::string grows = "cluster.allocator.conf=expandable_segments:True";
  const auto gain = [&](const std::vector<std::string>& settings) {
    const Predicted predicted = predict(k_llama, settings);
    const auto savings = predict_savings(predicted.planned, predicted.run, nullptr);
    REQUIRE_OK(savings);
    for (const MemorySaving& each : *savings)
      if (each.setting == grows) return each.gain;
    return Bytes{};
  };
  CHECK(gain({}) > Bytes{});
  CHECK(gain({grows}) == Bytes{});
  CHECK(gain({"cluster={device: cpu, ranks: 2}"}) == Bytes{});
}

// Without gaps between segments, which hide what the loss's temporaries take.
TEST_CASE("rows name the settings that shrink them") {
  const Predicted predicted = predict(k_llama, {"cluster.allocator.conf=expandable_segments:True"});
  const ExplainedMemory explained =
      explain_memory(predicted.planned, predicted.planned.plan.steady, predicted.run,
                     predict_savings(predicted.planned, predicted.run, nullptr).value());
  const auto settings = [&](const std::string& what) {
    for (const MemoryRow& row : explained.rows)
      if (row.alive.what == what) return std::set<std::string>(row.settings.begin(), row.settings.end());
    return std::set<std::string>{"no such row"};
  };
  const std::string chunks = "model.loss={kind: chunked, chunks: 8}";
  CHECK(settings("saved activations of 32 layers") == std::set<std::string>{"activation.checkpoint=full",
                                                                            "model.implementation=fused",
                                                                            "model.sequence_length=2048"});
  CHECK(settings("temporaries").contains(chunks));
  CHECK(settings("first moments of 32 layers") ==
        std::set<std::string>{"model.dtype=bfloat16", "offload.parameters=cpu"});
  CHECK(settings("rope table").empty());
}

TEST_CASE("what tools are asked is read off the scenario") {
  const ToolQuestion question = tool_question(predict(k_llama).planned);
  CHECK(question.parameters == 8'030'261'248);
  CHECK(question.largest_module == 525'336'576);
  CHECK(question.base_parameters == 7'504'924'672);
  CHECK(question.largest_layer == 525'336'576);
  CHECK(question.model == ModelDimensions{32, 128'256, 4'096, 32, 8, 14'336, 3, false});
  CHECK(question.stage == 3);
  CHECK(question.shards == 8);
  CHECK(tool_question(predict(k_llama, {"parallel.reshard_after_forward=false"}).planned).stage == 2);
  CHECK(tool_question(predict("scenarios/first/tiny-llama-ddp.yaml").planned).stage == 0);
  const auto of_gpt2 =
      predict(k_llama, {"model.config=gpt2", "model.sequence_length=512", "parallel.wrap={}"});
  CHECK(tool_question(of_gpt2.planned).model == ModelDimensions{12, 50'257, 768, 12, 12, 3'072, 2, false});
  for (const char* file :
       {"scenarios/first/llama3.1-70b-lora-8xh100.yaml", "scenarios/distillation/tiny-llama-distilled.yaml"})
    for (const ToolAnswer& each : other_tools(predict(file).planned)) {
      CHECK_FALSE(each.bytes);
      CHECK_FALSE(each.formula.empty());
    }
}

}  // namespace shardlab
