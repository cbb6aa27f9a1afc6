#include "engine/report/words/plan_words.h"

#include "engine/plan/text.h"
#include "engine/report/words/alive_at_peak.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// A student of two layers and a teacher of one, two micro-batches; the teacher's last segment makes tensor 9.
constexpr const char* k_plan = R"(plan 1
phase steady
strategy fsdp2
graph 0
world 2
micro_batches 2
group shard size 2
stream compute
unit root elements 8 padded 8 module .
unit u0 elements 8 padded 8 module model.layers.0
unit u1 elements 8 padded 8 module model.layers.1
unit teacher.root elements 8 padded 8 module teacher
unit teacher.u0 elements 8 padded 8 module teacher.model.layers.0
segment s0 unit teacher.root operators 0..1 forward_peak 0 backward_peak 0
segment s1 unit teacher.u0 operators 1..2 forward_peak 0 backward_peak 0
segment s2 unit teacher.root operators 2..3 forward_peak 0 backward_peak 0
segment s3 unit root operators 3..4 forward_peak 0 backward_peak 0
segment s4 unit u0 operators 4..5 forward_peak 0 backward_peak 0
segment s5 unit u1 operators 5..6 forward_peak 0 backward_peak 0
segment s6 unit u1 operators 6..7 forward_peak 0 backward_peak 0
segment s7 unit root operators 7..8 forward_peak 0 backward_peak 0
pass segments
buffer shard.u0 parameter_shard float32 x 8 device on compute unit u0 carried kept
buffer shard.u1 parameter_shard float32 x 8 device on compute unit u1 carried kept
buffer shard.teacher.u0 parameter_shard float32 x 8 device on compute unit teacher.u0 carried kept
buffer param.root parameter float32 x 8 device on compute unit root carried kept
buffer act.s2.mb1 activation float32 x 8 device on compute tensor 9 mb 1
buffer act.s4.mb1 activation float32 x 8 device on compute tensor 10 mb 1
buffer saved.s4.mb1 activation uint8 x 40 device on compute saved_by s4 mb 1
buffer saved.s5.mb1 activation uint8 x 44 device on compute saved_by s5 mb 1
buffer saved.s6.mb1 activation uint8 x 48 device on compute saved_by s6 mb 1
    0  compute  Forward  unit teacher.root segment s2 mb 1 writes act.s2.mb1 allocates act.s2.mb1)"
                               R"( pass segments
    1  compute  Forward  unit u0 segment s4 mb 1 writes act.s4.mb1,saved.s4.mb1)"
                               R"( allocates act.s4.mb1,saved.s4.mb1 pass segments
    2  compute  Forward  unit u1 segment s5 mb 1 writes saved.s5.mb1 allocates saved.s5.mb1 pass segments
    3  compute  Forward  unit u1 segment s6 mb 1 writes saved.s6.mb1 allocates saved.s6.mb1 pass segments
    4  compute  Backward  unit root segment s7 mb 1 pass segments
    5  compute  AllGather  unit u1 group shard bytes 32 pass segments
    6  compute  Free  frees saved.s6.mb1 pass segments
    7  compute  OptimizerStep  pass segments
)";

StepPlan plan() {
  return *parse_plan(k_plan, "plan");
}

std::string buffer_words(const std::string& name) {
  const StepPlan step = plan();
  for (std::size_t i = 0; i < step.buffers.size(); ++i)
    if (step.buffers[i].name == name) return to_words(PlanWords(step).buffer(make_id<BufferId>(i)));
  return "no such buffer";
}

}  // namespace

TEST_CASE("a module is called by its layer in every family") {
  const auto words = [](const char* path) { return to_words(place_of(path)); };
  CHECK(words("model.layers.47") == "layer 47");
  CHECK(words("transformer.h.3.mlp") == "layer 3 mlp");
  CHECK(words("teacher.transformer.blocks.3") == "the teacher's layer 3");
  CHECK(words("teacher") == "the teacher");
  CHECK(words(".") == "the model");
  CHECK(words("model.norm+lm_head") == "model.norm and lm_head");
  CHECK(words("model.layers.3.mlp.experts.5") == "layer 3 mlp.experts.5");
}

TEST_CASE("instructions are called by what they do and where") {
  const StepPlan step = plan();
  const PlanWords words(step);
  const std::vector<std::string> expected = {"forward of the teacher's head, micro-batch 2 of 2",
                                             "forward of layer 0, micro-batch 2 of 2",
                                             "forward of layer 1 (part 1 of 2), micro-batch 2 of 2",
                                             "forward of layer 1 (part 2 of 2), micro-batch 2 of 2",
                                             "backward of the head, micro-batch 2 of 2",
                                             "all-gather of layer 1",
                                             "release of saved activations of layer 1 (part 2 of 2)",
                                             "optimizer step"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(words.instruction(make_id<InstructionId>(i)) == expected[i]);
}

TEST_CASE("where room is scarce, instructions are called in few letters") {
  const StepPlan step = plan();
  const PlanWords words(step);
  const std::vector<std::string> expected = {
      "fwd teacher head", "fwd layer 0",    "fwd layer 1", "fwd layer 1",
      "bwd head",         "gather layer 1", "free",        "optimizer"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(words.brief(make_id<InstructionId>(i)) == expected[i]);
}

TEST_CASE("what is alive after an instruction is said in rows, those of each memory space apart") {
  StepPlan step = plan();
  for (Buffer& buffer : step.buffers)
    if (buffer.name == "shard.u1") buffer.space = MemorySpace::pinned_host;
  const PlanWords words(step);
  const std::vector<AliveRow> rows = alive_after(step, words, InstructionId{3});
  BytesBySpace sums{};
  std::vector<std::string> said;
  for (const AliveRow& row : rows) {
    sums[static_cast<std::size_t>(row.space)] += row.bytes;
    said.push_back(row.what);
  }
  CHECK(said == std::vector<std::string>{
                    "saved activations of 2 layers (micro-batch 2 of 2)", "parameter shards of layer 0",
                    "parameter shards of layer 1", "parameter shards of the teacher's layer 0",
                    "parameters of the root unit", "the teacher's logits (micro-batch 2 of 2)",
                    "output of layer 0 (micro-batch 2 of 2)"});
  for (const MemorySpace space : {MemorySpace::device, MemorySpace::pinned_host})
    CHECK(sums[static_cast<std::size_t>(space)] == live_bytes_after(step, space)[3]);
}

TEST_CASE("buffers are called by what they hold") {
  CHECK(buffer_words("act.s2.mb1") == "the teacher's logits (micro-batch 2 of 2)");
  CHECK(buffer_words("act.s4.mb1") == "output of layer 0 (micro-batch 2 of 2)");
  CHECK(buffer_words("shard.teacher.u0") == "parameter shards of the teacher's layer 0");
  CHECK(buffer_words("param.root") == "parameters of the root unit");
}

TEST_CASE("what is alive at the peak is said in rows that add up to it") {
  MemorySummary memory;
  memory.peak_instruction = InstructionId{4};
  memory.peak_label = "4 Backward s7 mb1";
  const auto set = [&](BufferClass its, std::int64_t bytes) {
    memory.by_class[static_cast<std::size_t>(its)] = {bytes};
    memory.peak_allocated += Bytes{bytes};
  };
  set(BufferClass::parameter_shard, 96);
  set(BufferClass::parameter, 32);
  set(BufferClass::activation, 196);
  set(BufferClass::workspace, 7);
  const std::vector<AliveRow> rows = alive_at_peak(plan(), memory);
  Bytes sum;
  std::vector<std::string> said;
  for (const AliveRow& row : rows) {
    sum += row.bytes;
    said.push_back(row.what);
  }
  CHECK(sum == memory.peak_allocated);
  CHECK(said ==
        std::vector<std::string>{"saved activations of 2 layers (micro-batch 2 of 2)",
                                 "parameter shards of 2 layers", "parameter shards of the teacher's layer 0",
                                 "parameters of the root unit", "the teacher's logits (micro-batch 2 of 2)",
                                 "output of layer 0 (micro-batch 2 of 2)", "temporaries"});
  CHECK(rows.front().since_words ==
        "forward of layer 0, micro-batch 2 of 2 to forward of layer 1 (part 2 of 2), micro-batch 2 of 2");
  CHECK(rows.front().buffers == 3);
  CHECK(rows.back().since_words == "backward of the head, micro-batch 2 of 2");
  CHECK_THAT(alive_table(plan(), memory, {.width = 120}),
             test::contains_text("in backward of the head, micro-batch 2 of 2 (4 Backward s7 mb1)"));
}

}  // namespace shardlab
