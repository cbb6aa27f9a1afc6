// What tests ask of the library in NCCL's place beside NCCL's own functions. C linkage: found by name in
// whatever library SHARDLAB_NCCL_LIBRARY or a test names.
#pragma once

extern "C" {
// The first rule that was broken in this process, in words; empty while none is. Any thread.
const char* standInViolation();
// Forgets it.
void standInForget();

// Waits until everything that was enqueued on the stream is done or was given up.
void standInSynchronize(void* stream);
// 1 when that is so.
int standInIsDone(void* stream);

// The communicator's asynchronous error from now on (an ncclResult_t), as a network's thread finds one.
void standInSetError(void* communicator, int outcome);
// Calls on the communicator do not come back any more until it is aborted, as when the queue of a GPU is full
// or a connection is made to a peer that is gone.
void standInHold(void* communicator);

// The version by the library's own ncclGetVersion, called as NCCL calls its own functions: by their names.
int standInVersion();
}
