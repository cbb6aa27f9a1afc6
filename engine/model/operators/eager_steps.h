// What an operator does that computes step by step, each step a kernel with a result of its own: how many
// kernels, what they move, and the most that their temporaries take together. Descriptions of eager operators
// are written with it, line by line beside the implementation.
#pragma once

#include <algorithm>
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
    peak_ = std::max(peak_, live_);
  }
  void give(Bytes bytes) { live_ -= bytes; }
  // A kernel whose result is a new temporary.
  void make(Bytes result, Bytes traffic) {
    take(result);
    kernel(traffic);
  }

  // All kernels as one piece of work: calibration times an operator as a whole.
  std::vector<Work> works() const {
    if (kernels_ == 0) return {};
    return {memory_work(traffic_, kernels_)};
  }
  Bytes peak() const { return peak_; }

 private:
  Bytes traffic_, live_, peak_;
  int kernels_ = 0;
};

inline void describe_forward(OperatorDescription& description, const EagerSteps& steps) {
  description.forward = steps.works();
  description.forward_temporaries = steps.peak();
}
inline void describe_backward(OperatorDescription& description, const EagerSteps& steps) {
  description.backward = steps.works();
  description.backward_temporaries = steps.peak();
}

}  // namespace shardlab
