#include "engine/execute/training_data.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "engine/base/hash.h"
#include "engine/execute/token_file.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// A number below `bound` from the generator's next output (multiply-shift; the bias is below bound / 2^64).
std::uint64_t below(std::uint64_t random, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(random) * bound >> 64);
}

void shuffle(std::vector<std::uint32_t>& values, std::uint64_t seed, std::uint64_t epoch) {
  std::uint64_t state = splitmix64(seed * k_splitmix_step + splitmix64(epoch + k_splitmix_step));
  for (std::size_t i = values.size(); i > 1; --i) {
    state += k_splitmix_step;
    std::swap(values[i - 1], values[below(splitmix64(state), i)]);
  }
}

}  // namespace

BatchOrder batch_order(const Scenario& scenario) {
  return {world_size(scenario), scenario.train->accumulation, scenario.train->micro_batch};
}

// The tokens of one file and where its sequences stand in the numbering.
class TrainingData::File {
 public:
  File(TokenFile file, std::int64_t first_sequence) : tokens(std::move(file)), first(first_sequence) {}
  TokenFile tokens;
  std::int64_t first;
};

Result<TrainingData> TrainingData::open(const Scenario& scenario, std::int64_t vocabulary) {
  TrainingData data;
  data.sequence_length_ = scenario.model->sequence_length;
  data.vocabulary_ = vocabulary;
  data.order_ = batch_order(scenario);
  data.seed_ = static_cast<std::uint64_t>(scenario.train->seed);
  data.shuffled_ = scenario.train->order == DataOrder::shuffled;
  if (scenario.train->data.empty()) {
    return bad_input("train.data", "a training run needs data",
                     "name a text file or a .bin file of uint16 tokens");
  }
  for (const std::string& name : scenario.train->data) {
    auto path = resolve_path(scenario, name);
    if (!path) return bad_input("train.data", path.error().what, path.error().hint);
    SHARDLAB_TRY(TokenFile file, TokenFile::open(*path, vocabulary));
    const std::int64_t sequences = (file.size() - 1) / data.sequence_length_;
    if (sequences < 1) {
      return bad_input(in_file(path->string()),
                       fmt::format("{} tokens are less than one sequence of {} and its last target",
                                   file.size(), data.sequence_length_),
                       "use more text or lower model.sequence_length");
    }
    data.files_.push_back(std::make_shared<File>(std::move(file), data.sequences_));
    data.sequences_ += sequences;
  }
  if (data.sequences_ > std::numeric_limits<std::uint32_t>::max())
    return bad_input("train.data", "more than 2^32 sequences");
  return data;
}

const std::vector<std::uint32_t>& TrainingData::order_of(std::int64_t epoch) {
  Order& order = orders_[static_cast<std::size_t>(epoch) % orders_.size()];
  if (order.epoch != epoch) {
    order.epoch = epoch;
    order.sequences.resize(static_cast<std::size_t>(sequences_));
    std::iota(order.sequences.begin(), order.sequences.end(), 0U);
    if (shuffled_) shuffle(order.sequences, seed_, static_cast<std::uint64_t>(epoch));
  }
  return order.sequences;
}

std::int64_t TrainingData::sequence_at(std::int64_t k) {
  return order_of(k / sequences_)[static_cast<std::size_t>(k % sequences_)];
}

Status TrainingData::copy_sequence(std::int64_t index, std::int64_t* tokens, std::int64_t* targets) const {
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), index,
                       [](std::int64_t value, const auto& file) { return value < file->first; });
  const File& file = **(after - 1);
  const std::int64_t start = (index - file.first) * sequence_length_;
  SHARDLAB_CHECK_OK(file.tokens.copy(start, {tokens, static_cast<std::size_t>(sequence_length_)}));
  return file.tokens.copy(start + 1, {targets, static_cast<std::size_t>(sequence_length_)});
}

Status TrainingData::load(std::int64_t step, int rank, int micro_batch, std::span<std::int64_t> tokens,
                          std::span<std::int64_t> targets) {
  const auto wanted = static_cast<std::size_t>(order_.micro_batch * sequence_length_);
  if (tokens.size() != wanted || targets.size() != wanted) {
    return internal_error("training data",
                          fmt::format("a micro-batch has {} tokens, not {}", wanted, tokens.size()));
  }
  const std::int64_t first = order_.first(step, rank, micro_batch);
  for (std::int64_t row = 0; row < order_.micro_batch; ++row) {
    const std::int64_t at = row * sequence_length_;
    SHARDLAB_CHECK_OK(copy_sequence(sequence_at(first + row), tokens.data() + at, targets.data() + at));
  }
  return {};
}

}  // namespace shardlab
