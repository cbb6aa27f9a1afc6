// What a run trains on, in an order that depends on the seed alone.
//
// Files are cut into sequences of S tokens with targets one token later: sequence k of a file starts at token
// k * S and needs S + 1 tokens, so neighbours share one token and nothing crosses a file. Sequences are
// numbered through all files. An epoch visits all of them in an order of its own (shuffled from seed and
// epoch, or as they lie). Step s takes the next G = ranks * micro_batch * accumulation of that order, going
// on into the next epoch; rank r gets the r-th equal part of the G, its micro-batches in order inside it. So
// the global batch of a step is the same whatever the number of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// How sequences are dealt out to ranks and micro-batches.
struct BatchOrder {
  std::int64_t ranks = 1, accumulation = 1, micro_batch = 1;

  std::int64_t global_batch() const { return ranks * accumulation * micro_batch; }
  // Which the first of a micro-batch is among all that the run visits, from 0 through all epochs.
  std::int64_t first(std::int64_t step, int rank, int number) const {
    return step * global_batch() + (rank * accumulation + number) * micro_batch;
  }
};
BatchOrder batch_order(const Scenario& scenario);

class TrainingData {
 public:
  // Files named *.bin hold uint16 tokens (little-endian, as nanoGPT writes them), all others are text whose
  // bytes are the tokens. bad_input: a missing file, one shorter than a sequence, an odd-sized .bin, a token
  // that is not below `vocabulary`.
  static Result<TrainingData> open(const Scenario& scenario, std::int64_t vocabulary);

  std::int64_t sequences() const { return sequences_; }
  std::int64_t global_batch() const { return order_.global_batch(); }

  // Index of a sequence: the k-th that the run visits, k counted from 0 through all epochs.
  std::int64_t sequence_at(std::int64_t k);

  // Tokens and targets of one micro-batch, [micro_batch, S] each, row-major. Fails when a token is not below
  // the vocabulary.
  Status load(std::int64_t step, int rank, int micro_batch, std::span<std::int64_t> tokens,
              std::span<std::int64_t> targets);

 private:
  class File;
  struct Order {
    std::int64_t epoch = -1;
    std::vector<std::uint32_t> sequences;
  };

  const std::vector<std::uint32_t>& order_of(std::int64_t epoch);
  Status copy_sequence(std::int64_t index, std::int64_t* tokens, std::int64_t* targets) const;

  std::vector<std::shared_ptr<const File>> files_;
  std::int64_t sequence_length_ = 0, sequences_ = 0, vocabulary_ = 0;
  BatchOrder order_;
  std::uint64_t seed_ = 0;
  bool shuffled_ = true;
  std::vector<Order> orders_{2};  // a batch touches at most two epochs, unless the data is tiny
};

}  // namespace shardlab
