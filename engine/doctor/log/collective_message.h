// What the watchdog of ProcessGroupNCCL says of a collective that did not end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardlab {

// One rank's collective; what a line does not say is absent.
struct CollectiveMessage {
  std::optional<std::int64_t> sequence;  // SeqNum, or "at work"
  std::string operation;                 // ALLREDUCE
  std::optional<std::int64_t> elements_in;
  std::optional<std::int64_t> elements_out;
  std::optional<std::int64_t> timeout_ms;
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_completed;
  std::string group;  // "9", the identifier of the process group, where the line names one

  friend bool operator==(const CollectiveMessage&, const CollectiveMessage&) = default;
};

// Reads `WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=.., NumelOut=.., Timeout(ms)=600000)`, of versions
// before 2.2 `WorkNCCL(OpType=ALLREDUCE, TensorShape=[8], Timeout(ms)=1800000)`, and `detected by watchdog at
// work: 1580, last enqueued NCCL work: 1582, last completed NCCL work: 1579`, which 2.7 words `at work
// sequence id: 1580 PG status: last enqueued work: 1582, last completed work: 1579`. A rank that another
// one's timeout ends (`Received a dump signal due to a collective timeout`) has no sequence, only what it did
// last. Nothing for other lines.
std::optional<CollectiveMessage> read_collective_message(std::string_view line);

// Whether two lines of one rank speak of the same collective: one that says no sequence is of any.
bool is_of_same_collective(const CollectiveMessage& a, const CollectiveMessage& b);

// Adds to what one line of a rank said what another one says of the same collective.
void join(CollectiveMessage& message, const CollectiveMessage& more);

}  // namespace shardlab
