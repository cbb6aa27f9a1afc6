// Copies from and to a drive: a whole buffer, while the host goes on.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "engine/execute/torch/instructions/action.h"
#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

class PendingTransfer : public Pending {
 public:
  explicit PendingTransfer(std::unique_ptr<SwapTransfer> transfer) : transfer_(std::move(transfer)) {}

  void wait() override { or_throw(transfer_->wait()); }
  Nanoseconds began_at() const override { return transfer_->began_at(); }
  Nanoseconds completed_at() const override { return transfer_->completed_at(); }

 private:
  const std::unique_ptr<SwapTransfer> transfer_;
};

enum class Direction : std::uint8_t { read, write };

class DriveCopy : public Action {
 public:
  DriveCopy(RunState& run, Direction direction, std::string file, Slot memory)
      : run_(run), direction_(direction), file_(std::move(file)), memory_(memory) {}

  void run(StepContext& step) override {
    const std::span<std::byte> bytes = bytes_of_tensor(run_.buffers.tensor(memory_));
    step.pending = std::make_unique<PendingTransfer>(direction_ == Direction::read
                                                         ? run_.drive->read(file_, bytes)
                                                         : run_.drive->write(file_, step.step, bytes));
  }

 private:
  RunState& run_;
  const Direction direction_;
  const std::string file_;
  const Slot memory_;
};

}  // namespace

PreparedAction prepare_drive_copy(const Site& site) {
  const Instruction& instruction = site.instruction();
  const BufferId from = instruction.reads.front(), to = instruction.writes.front();
  if (site.buffer(from).bytes() != site.buffer(to).bytes())
    return site.defect(
        fmt::format("{} and {} are not of one size", site.buffer(from).name, site.buffer(to).name));
  const bool reads = site.buffer(from).space == MemorySpace::disk;
  return std::make_unique<DriveCopy>(site.run, reads ? Direction::read : Direction::write,
                                     site.buffer(reads ? from : to).name, site.slot(reads ? to : from));
}

}  // namespace shardlab
