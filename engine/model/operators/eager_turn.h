// The steps of apply_rotary_pos_emb (transformers 5.23, modeling_llama.py) on whole heads: x cos +
// rotate_half(x) sin, with rotate_half a negation and a concatenation; and of its gradient as autograd has
// it, of each slice a whole tensor of zeros. `turned`: bytes of what is turned; `table`: of its cosines, or
// sines.
#pragma once

#include "engine/model/operators/eager_steps.h"

namespace shardlab {

// Both products, which `steps` holds then; their sum is the caller's.
inline void turn_products(EagerSteps& steps, Bytes turned, Bytes table) {
  steps.make(turned, turned * 2 + table);
  steps.make(turned / 2, turned);  // negated
  steps.make(turned, turned * 2);  // put together
  steps.give(turned / 2);
  steps.make(turned, turned * 2 + table);
  steps.give(turned);
}

// Into a tensor that exists.
inline void turn(EagerSteps& steps, Bytes turned, Bytes table) {
  turn_products(steps, turned, table);
  steps.kernel(turned * 3);
  steps.give(turned * 2);
}
inline void turn_back(EagerSteps& steps, Bytes turned, Bytes table) {
  steps.make(turned, turned * 2 + table);
  steps.make(turned / 2, turned);  // negated
  steps.kernel(turned);            // zeros, and the second half in them
  steps.kernel(turned);
  steps.give(turned / 2);
  steps.make(turned, turned);  // zeros, and the first half in them
  steps.kernel(turned);
  steps.give(turned);
  steps.kernel(turned * 3);
  steps.give(turned);
  steps.make(turned, turned * 2 + table);
  steps.kernel(turned * 3);
  steps.give(turned);
}

}  // namespace shardlab
