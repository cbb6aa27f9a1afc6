// Work on the elements of a list by several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace shardlab {

// Calls work(i) for all i below `count`, in any order; returns when all are done.
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace shardlab
