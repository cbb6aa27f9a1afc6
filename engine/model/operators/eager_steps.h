// What an operator does that computes step by step, each step a kernel with a result of its own: how many
// kernels, what they move, and the most that their temporaries take together. Descriptions of eager operators
// are written with it, line by line beside the implementation.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/model/operators/work.h"

namespace shardlab {

class EagerSteps {
 public:
  // A kernel that reads and writes `traffic`.
  void kernel(Bytes traffic) {
    traffic_ += traffic;
    ++kernels_;
  }
  // A temporary is allocated, and freed.
  void take(Bytes bytes) {
    live_ += bytes;
    blocks_.push_back(bytes);
    if (live_ <= peak_) return;
    peak_ = live_;
    given_at_peak_ = given_;
  }
  void give(Bytes bytes) {
    live_ -= bytes;
    blocks_.push_back(bytes * -1);
  }
  // A kernel whose result is a new temporary.
  void make(Bytes result, Bytes traffic) {
    take(result);
    kernel(traffic);
  }

  // What was taken so far was taken before the results were allocated.
  void allocate_results() {
    if (peak_ > before_results_) {
      before_results_ = peak_;
      given_before_ = given_at_peak_;
    }
    peak_ = live_;
    given_at_peak_ = given_;
    blocks_.emplace_back();
  }

  // Where the results are allocated, in the order of blocks alone.
  void results_follow() { blocks_.emplace_back(); }
  // Where one of them is: of forward's outputs and then its extras.
  void result_follows(std::size_t index) { blocks_.push_back(result_block(index)); }
  // In backward one of the extras that forward kept is given back, if it did.
  void give_extra(const OperatorDescription& description, std::string_view label) {
    for (std::size_t i = 0; i < description.extras.size(); ++i) {
      const ExtraTensor& extra = description.extras[i];
      if (extra.label != label) continue;
      const Bytes bytes = bytes_of(element_count(extra.shape), extra.dtype);
      live_ -= bytes;
      given_ += bytes;
      blocks_.push_back(given_extra_block(i));
    }
  }
  // What else forward kept is given back, in the order of blocks alone.
  void give_kept() { blocks_.push_back(k_freed_here); }
  // In forward, where Python's variables let go of the inputs, likewise.
  void give_inputs() { blocks_.push_back(k_freed_here); }

  // All kernels as one piece of work: calibration times an operator as a whole.
  std::vector<Work> works() const {
    if (kernels_ == 0) return {};
    return {memory_work(traffic_, kernels_)};
  }
  // Beside the results, and before there were any.
  Bytes peak() const { return peak_; }
  Bytes peak_before_results() const { return before_results_; }
  // How many bytes of extras were given back at either.
  Bytes given_at_peak() const { return given_at_peak_; }
  Bytes given_before_results() const { return given_before_; }
  // As OperatorDescription::forward_blocks.
  const std::vector<Bytes>& blocks() const { return blocks_; }

 private:
  Bytes traffic_, live_, peak_, before_results_;
  Bytes given_, given_at_peak_, given_before_;
  int kernels_ = 0;
  std::vector<Bytes> blocks_;
};

inline void describe_forward(OperatorDescription& description, const EagerSteps& steps) {
  description.forward = steps.works();
  description.forward_temporaries = steps.peak();
  description.forward_blocks = steps.blocks();
}
inline void describe_backward(OperatorDescription& description, const EagerSteps& steps) {
  description.backward = steps.works();
  description.backward_temporaries = steps.peak();
  description.backward_temporaries_before = steps.peak_before_results();
  description.backward_given = steps.given_at_peak();
  description.backward_given_before = steps.given_before_results();
  description.backward_blocks = steps.blocks();
}

// The steps of apply_rotary_pos_emb (transformers 5.23, modeling_llama.py) on whole heads: x cos +
// rotate_half(x) sin, with rotate_half a negation and a concatenation; and of its gradient as autograd has
// it, of each slice a whole tensor of zeros. `turned`: bytes of what is turned; `table`: of its cosines, or
// sines; `wide`: of the results, more than `turned` where the table is wider than what is turned and torch
// promotes.

// Both products, which `steps` holds then; their sum is the caller's.
inline void turn_products(EagerSteps& steps, Bytes turned, Bytes table, Bytes wide) {
  steps.make(wide, turned + wide + table);
  steps.make(turned / 2, turned);  // negated
  steps.make(turned, turned * 2);  // put together
  steps.give(turned / 2);
  steps.make(wide, turned + wide + table);
  steps.give(turned);
}

// Into a tensor that exists.
inline void turn(EagerSteps& steps, Bytes turned, Bytes table, Bytes wide) {
  turn_products(steps, turned, table, wide);
  steps.kernel(wide * 3);
  steps.give(wide * 2);
}

// The gradient times cosines or sines, in the dtype of what was turned.
inline void turn_gradient(EagerSteps& steps, Bytes turned, Bytes table, Bytes wide) {
  steps.make(wide, wide * 2 + table);
  if (wide == turned) return;
  steps.make(turned, wide + turned);
  steps.give(wide);
}

inline void turn_back(EagerSteps& steps, Bytes turned, Bytes table, Bytes wide) {
  turn_gradient(steps, turned, table, wide);
  steps.make(turned / 2, turned);  // negated
  steps.kernel(turned);            // zeros, and the second half in them
  steps.kernel(turned);
  steps.give(turned / 2);
  steps.make(turned, turned);  // zeros, and the first half in them
  steps.kernel(turned);
  steps.give(turned);
  steps.kernel(turned * 3);
  steps.give(turned);
  turn_gradient(steps, turned, table, wide);
  steps.kernel(turned * 3);
  steps.give(turned);
}

}  // namespace shardlab
