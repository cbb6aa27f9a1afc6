#include "engine/execute/training_data.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using Folder = test::TemporaryFolder;

std::string write_file(const Folder& folder, const std::string& name, const std::string& bytes) {
  std::ofstream(folder.path() / name, std::ios::binary) << bytes;
  return name;
}

Scenario scenario_in(const Folder& folder, int ranks, std::vector<std::string> data) {
  Scenario scenario;
  scenario.directory = folder.path().string();
  scenario.model->sequence_length = 4;
  scenario.cluster->device = DeviceKind::cpu;
  scenario.cluster->ranks = ranks;
  scenario.train->micro_batch = 1;
  scenario.train->data = std::move(data);
  return scenario;
}

std::string counting_text(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(i % 128);
  return text;
}

using Batch = std::vector<std::int64_t>;

// Tokens then targets of all ranks of a step, ranks in order.
Batch global_batch(const Scenario& scenario, std::int64_t step) {
  auto data = TrainingData::open(scenario, 256);
  REQUIRE(data);
  const auto count = static_cast<std::size_t>(scenario.train->micro_batch * scenario.model->sequence_length);
  Batch all_tokens, all_targets, tokens(count), targets(count);
  for (int rank = 0; rank < scenario.cluster->ranks; ++rank) {
    for (int micro_batch = 0; micro_batch < scenario.train->accumulation; ++micro_batch) {
      REQUIRE(data->load(step, rank, micro_batch, tokens, targets));
      all_tokens.insert(all_tokens.end(), tokens.begin(), tokens.end());
      all_targets.insert(all_targets.end(), targets.begin(), targets.end());
    }
  }
  all_tokens.insert(all_tokens.end(), all_targets.begin(), all_targets.end());
  return all_tokens;
}

TEST_CASE("the global batch does not depend on how it is split") {
  const Folder folder;
  const std::string file = write_file(folder, "text.txt", counting_text(100));
  Scenario one = scenario_in(folder, 1, {file});
  one.train->micro_batch = 4;
  Scenario two = scenario_in(folder, 2, {file});
  two.train->micro_batch = 2;
  Scenario two_accumulating = scenario_in(folder, 2, {file});
  two_accumulating.train->accumulation = 2;
  const Scenario four = scenario_in(folder, 4, {file});
  for (std::int64_t step = 0; step < 20; ++step) {  // 24 sequences: goes through several epochs
    const Batch expected = global_batch(one, step);
    CHECK(global_batch(two, step) == expected);
    CHECK(global_batch(two_accumulating, step) == expected);
    CHECK(global_batch(four, step) == expected);
  }
}

TEST_CASE("sequential order: sequences as they lie, targets one later, then from the start") {
  const Folder folder;
  Scenario scenario = scenario_in(folder, 1, {write_file(folder, "text.txt", counting_text(9))});
  scenario.train->order = DataOrder::sequential;
  CHECK(global_batch(scenario, 0) == Batch{0, 1, 2, 3, 1, 2, 3, 4});
  CHECK(global_batch(scenario, 1) == Batch{4, 5, 6, 7, 5, 6, 7, 8});
  CHECK(global_batch(scenario, 2) == global_batch(scenario, 0));
}

TEST_CASE("shuffled order: every epoch a permutation, another one each time and for each seed") {
  const Folder folder;
  Scenario scenario = scenario_in(folder, 1, {write_file(folder, "text.txt", counting_text(401))});
  auto data = TrainingData::open(scenario, 256);
  REQUIRE(data);
  REQUIRE(data->sequences() == 100);
  std::vector<std::int64_t> epochs[2];
  for (std::int64_t k = 0; k < 200; ++k) epochs[k / 100].push_back(data->sequence_at(k));
  CHECK(std::set<std::int64_t>(epochs[0].begin(), epochs[0].end()).size() == 100);
  CHECK(std::set<std::int64_t>(epochs[1].begin(), epochs[1].end()).size() == 100);
  CHECK(epochs[0] != epochs[1]);
  CHECK_FALSE(std::is_sorted(epochs[0].begin(), epochs[0].end()));
  scenario.train->seed = 2;
  auto other = TrainingData::open(scenario, 256);
  std::vector<std::int64_t> order;
  for (std::int64_t k = 0; k < 100; ++k) order.push_back(other->sequence_at(k));
  CHECK(order != epochs[0]);
}

TEST_CASE("the order of a seed is the same in every release") {
  const Folder folder;
  const Scenario scenario = scenario_in(folder, 1, {write_file(folder, "text.txt", counting_text(41))});
  auto data = TrainingData::open(scenario, 256);
  REQUIRE(data);
  std::vector<std::int64_t> order;
  for (std::int64_t k = 0; k < 10; ++k) order.push_back(data->sequence_at(k));
  CHECK(order == std::vector<std::int64_t>{4, 7, 0, 5, 9, 3, 6, 2, 8, 1});
}

TEST_CASE("bin files hold uint16 tokens; sequences do not cross files") {
  const Folder folder;
  std::string bin;
  for (int i = 0; i < 6; ++i) bin += {static_cast<char>(i), 1};  // 256 + i
  Scenario scenario =
      scenario_in(folder, 1, {write_file(folder, "a.txt", "ABCDEF"), write_file(folder, "b.bin", bin)});
  scenario.train->order = DataOrder::sequential;
  auto data = TrainingData::open(scenario, 1000);
  REQUIRE(data);
  CHECK(data->sequences() == 2);
  Batch tokens(4), targets(4);
  REQUIRE(data->load(1, 0, 0, tokens, targets));
  CHECK(tokens == Batch{256, 257, 258, 259});
  CHECK(targets == Batch{257, 258, 259, 260});
}

std::string complaint(const Scenario& scenario, std::int64_t vocabulary = 256) {
  const auto data = TrainingData::open(scenario, vocabulary);
  REQUIRE_FALSE(data);
  CHECK(data.error().kind == ErrorKind::bad_input);
  return to_string(data.error());
}

TEST_CASE("bad data is refused with the file and the reason") {
  const Folder folder;
  using test::contains_text;
  CHECK_THAT(complaint(scenario_in(folder, 1, {"missing.txt"})), contains_text("missing.txt"));
  CHECK_THAT(complaint(scenario_in(folder, 1, {})), contains_text("train.data"));
  CHECK_THAT(complaint(scenario_in(folder, 1, {write_file(folder, "empty.txt", "")})),
             contains_text("empty"));
  CHECK_THAT(complaint(scenario_in(folder, 1, {write_file(folder, "short.txt", "ABCD")})),
             contains_text("4 tokens are less than one sequence"));
  CHECK_THAT(complaint(scenario_in(folder, 1, {write_file(folder, "odd.bin", "ABCDEFGHIJK")})),
             contains_text("uint16"));
  const std::string high =
      complaint(scenario_in(folder, 1, {write_file(folder, "high.txt", "ABCDE\xf0GH")}), 200);
  CHECK_THAT(high, contains_text("token 240 at byte 5") && contains_text("vocabulary of 200"));
}

}  // namespace
}  // namespace shardlab
