// Comments of a scenario that are addressed to the doctor, and the key that each is about.
#include "engine/scenario/comments/doctor_comments.h"

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::vector<DoctorComment> comments_of(const std::string& yaml) {
  const auto read = parse_scenario_with_source(yaml, "a.yaml");
  REQUIRE_OK(read);
  return read->source.comments();
}

TEST_CASE("a comment to the doctor is about its line, the next one, or the whole file") {
  const std::string yaml =
      "# A file of ours.\n"                                        // 1
      "# doctor: ignore E-12, memory/states-dominate\n"            // 2
      "name: x\n"                                                  // 3
      "model: {config: tiny-llama, sequence_length: 128}\n"        // 4
      "cluster: {device: cpu, ranks: 2}  # doctor: ignore A-05\n"  // 5
      "# doctor:  ignore E-16\n"                                   // 6
      "# It is on purpose.\n"                                      // 7
      "train:\n"                                                   // 8
      "  micro_batch: 4   # two GPUs  # doctor: ignore C-07\n"     // 9
      "  # A doctor: who ignores E-01\n"                           // 10
      "parallel: {strategy: fsdp2}\n"                              // 11
      "# doctor: ignore B-01\n";                                   // 12
  const std::vector<DoctorComment> comments = comments_of(yaml);
  REQUIRE(comments.size() == 5);
  CHECK(comments[0].text == "ignore E-12, memory/states-dominate");
  CHECK(comments[0].line == 2);
  CHECK(comments[0].key == "");
  CHECK(comments[1].key == "cluster");
  CHECK(comments[2].key == "train");
  CHECK(comments[2].text == "ignore E-16");
  CHECK(comments[3].key == "train.micro_batch");
  CHECK(comments[3].text == "ignore C-07");
  CHECK_FALSE(comments[4].key);
}

TEST_CASE("a list's comment stands at its key, above its items") {
  const std::vector<DoctorComment> comments = comments_of(
      "model: {config: tiny-llama, sequence_length: 128}\n"
      "cluster: {device: cpu, ranks: 2}\n"
      "parallel:\n"
      "  strategy: fsdp1\n"
      "  wrap:\n"
      "    policy: lambda\n"
      "    match:  # doctor: ignore B-14\n"
      "      - {class: LlamaDecoderLayer}\n");
  REQUIRE(comments.size() == 1);
  CHECK(comments.front().key == "parallel.wrap.match");
}

TEST_CASE("without comments to the doctor there are none") {
  CHECK(comments_of("model: {config: tiny-llama, sequence_length: 128}  # ignore E-16\n"
                    "cluster: {device: cpu, ranks: 2}\n"
                    "parallel: {strategy: fsdp2}\n")
            .empty());
}

}  // namespace
}  // namespace shardlab
