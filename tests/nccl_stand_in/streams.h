// Streams: each a thread that does what is enqueued, in order. Any pointer names one, null too; they are made
// at first mention and live to the end of the process.
#pragma once

#include <functional>

namespace stand_in {

void enqueue(void* stream, std::function<void()> work);

}  // namespace stand_in
