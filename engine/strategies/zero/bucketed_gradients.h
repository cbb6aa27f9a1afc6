// Gradients on their way into DeepSpeed's buckets, as they become ready. What a full bucket is reduced with,
// and when the memory of a gradient may go, is the stage's.
//
// Source: DeepSpeed 0.19.8, reduce_independent_p_g_buckets_and_remove_grads of
// runtime/zero/stage_1_and_2.py and __add_grad_to_ipg_bucket of runtime/zero/stage3.py. A bucket is memory of
// `reduce_bucket_size` elements, whatever lies in it: the gradients in it and what is left of the memory are
// buffers of their own here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/strategies/step_builder.h"
#include "engine/strategies/zero/gradient_buckets.h"

namespace shardlab {

// The buffer, or, where it has another dtype, a copy of it that is made on this stream.
BufferId converted(StepBuilder& builder, BufferId buffer, DType dtype, StreamId stream);

class BucketedGradients {
 public:
  virtual ~BucketedGradients() = default;
  BucketedGradients(const BucketedGradients&) = delete;
  BucketedGradients& operator=(const BucketedGradients&) = delete;

  bool is_oversized(ParameterId parameter) const { return buckets_[bucket_of(parameter)].oversized; }

  // The gradients of these parameters, neighbours in the order, lie complete in this buffer, which is
  // released with the last that it holds. A bucket into which they do not fit is reduced before.
  void take(BufferId gradients, std::span<const ParameterId> parameters);

 protected:
  using Memory = std::vector<BufferId>;  // the bucket that fills it, first, and what is left

  // `stream`: on which gradients are copied into a bucket. `size`: of a bucket, in elements of `dtype`.
  BucketedGradients(StepBuilder& builder, UnitId root, StreamId stream, DType dtype, std::int64_t size,
                    std::vector<GradientBucket> buckets);

  // `source` holds the bucket's gradients; that of an oversized one is the gradient itself, to be released.
  virtual void reduce(std::size_t bucket, BufferId source) = 0;
  // Nothing will read it any more that is not in the plan yet.
  virtual void release(BufferId gradients) = 0;
  // Where the next bucket is filled.
  virtual Memory& memory() = 0;

  void reduce_last();  // if one is being filled
  Memory take_memory(std::int64_t elements, std::optional<BufferId> filled = std::nullopt);
  const GradientBucket& bucket(std::size_t index) const { return buckets_[index]; }
  // "<what>.<number>.mb<micro-batch>"
  std::string label(std::string_view what, std::size_t number) const;

  StepBuilder& b_;
  const UnitId root_;
  int micro_batch_ = 0;

 private:
  std::size_t bucket_of(ParameterId parameter) const { return bucket_of_[parameter.index()]; }
  void fill(std::size_t bucket);
  void pack(BufferId gradients, std::span<const ParameterId> parameters);

  const StreamId stream_;
  const DType dtype_;
  const std::int64_t size_;
  const std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;     // by ParameterId
  std::optional<std::size_t> filling_;     // a bucket
  std::optional<BufferId> alone_;          // the gradient that is a bucket of its own
  std::map<BufferId, std::size_t> taken_;  // parameters of buffers that hold more
  std::size_t memories_ = 0;               // taken so far, for names
};

}  // namespace shardlab
