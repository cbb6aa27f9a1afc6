// Work on the elements of a list by several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace shardlab {

// Calls work(i) for all i below `count`, in any order; returns when all are done. With fewer threads where
// the machine gives no more. What a call throws ends the others early and is thrown here.
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace shardlab
