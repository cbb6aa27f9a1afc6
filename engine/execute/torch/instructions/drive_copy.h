// A copy from or to a drive: a whole buffer, while the host goes on. Private to copies.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engine/execute/torch/instructions/action.h"

namespace shardlab {

class PendingTransfer : public Pending {
 public:
  explicit PendingTransfer(std::unique_ptr<SwapTransfer> transfer) : transfer_(std::move(transfer)) {}

  void wait() override { or_throw(transfer_->wait()); }
  Nanoseconds began_at() const override { return transfer_->began_at(); }
  Nanoseconds completed_at() const override { return transfer_->completed_at(); }

 private:
  const std::unique_ptr<SwapTransfer> transfer_;
};

enum class DriveDirection : std::uint8_t { read, write };

class DriveCopy : public Action {
 public:
  DriveCopy(RunState& run, DriveDirection direction, std::string file, Slot memory)
      : run_(run), direction_(direction), file_(std::move(file)), memory_(memory) {}

  void run(StepContext& step) override {
    const std::span<std::byte> bytes = bytes_of_tensor(run_.buffers.tensor(memory_));
    step.pending = std::make_unique<PendingTransfer>(direction_ == DriveDirection::read
                                                         ? run_.drive->read(file_, bytes)
                                                         : run_.drive->write(file_, step.step, bytes));
  }

 private:
  RunState& run_;
  const DriveDirection direction_;
  const std::string file_;
  const Slot memory_;
};

}  // namespace shardlab
