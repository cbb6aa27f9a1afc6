#include "engine/execute/swap/swap_drive.h"

#include <exception>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "engine/execute/machine.h"
#include "engine/execute/swap/direct_io.h"
#include "engine/execute/swap/drive_failure.h"
#include "engine/execute/swap/moving_file.h"
#include "engine/execute/swap/swap_folder.h"
#include "engine/execute/swap/swap_mover.h"
#include "engine/execute/swap/swap_options.h"

namespace shardlab {
namespace {

// The caller's end of a transfer that the mover has.
class TransferUnderWay final : public SwapTransfer {
 public:
  explicit TransferUnderWay(std::shared_ptr<MovingFile> file) : file_(std::move(file)) {}
  ~TransferUnderWay() override { file_->wait_until_over(); }

  Status wait() override { return file_->wait(); }
  Nanoseconds began_at() const override { return file_->began_at(); }
  Nanoseconds completed_at() const override { return file_->completed_at(); }

 private:
  const std::shared_ptr<MovingFile> file_;
};

// A transfer that could not even be begun.
class RefusedTransfer final : public SwapTransfer {
 public:
  explicit RefusedTransfer(Error error) : error_(std::move(error)), at_(monotonic_now()) {}

  Status wait() override { return fail(error_); }
  Nanoseconds began_at() const override { return at_; }
  Nanoseconds completed_at() const override { return at_; }

 private:
  const Error error_;
  const Nanoseconds at_;
};

}  // namespace

class SwapDrive::Parts {
 public:
  Parts(SwapFolder folder, ChosenEngine chosen, const SwapOptions& options, const DirectAccess& access)
      : folder_(std::move(folder)),
        place_(std::make_shared<SwapPlace>(SwapPlace{folder_.descriptor(), folder_.path(), options.run,
                                                     options.rank, options.block.value, access.is_possible})),
        mechanism_(std::move(chosen.description)),
        access_(access),
        mover_(std::move(chosen.engine), options.queue_depth, access.is_possible) {}

  Status create(const std::string& name, Bytes bytes);
  std::unique_ptr<SwapTransfer> begin(const std::string& name, const FileOrder& order);
  void register_memory(std::span<std::byte> memory);
  std::string description() const;

 private:
  SwapFolder folder_;
  const std::shared_ptr<const SwapPlace> place_;
  const std::string mechanism_;
  const DirectAccess access_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, std::shared_ptr<SwapFile>> files_;
  std::string registration_;
  SwapMover mover_;  // the last, so that it ends first
};

Status SwapDrive::Parts::create(const std::string& name, Bytes bytes) {
  const Place place = place_of_file(*place_, name);
  if (!is_swap_name(name)) return bad_input(on_rank(place_->rank, name), k_wrong_swap_name);
  if (bytes.value < 0) return bad_input(place, "cannot have fewer than 0 bytes");
  const std::lock_guard lock(mutex_);
  if (files_.contains(name)) return bad_input(place, "was created already");
  auto file = std::make_shared<SwapFile>(SwapFile{name, bytes.value, {}, false});
  SHARDLAB_CHECK_OK(make_swap_file(*place_, name, bytes.value));
  files_.emplace(name, std::move(file));
  return {};
}

std::unique_ptr<SwapTransfer> SwapDrive::Parts::begin(const std::string& name, const FileOrder& order) {
  const Place place = place_of_file(*place_, name);
  const auto refuse = [&](std::string what) {
    return std::make_unique<RefusedTransfer>(Error(ErrorKind::internal, place, std::move(what), {}));
  };
  std::shared_ptr<SwapFile> file;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(name);
    if (found == files_.end()) return refuse("is moved, and was not created");
    file = found->second;
  }
  const auto bytes = static_cast<std::int64_t>(order.memory.size());
  if (bytes != file->bytes)
    return refuse(fmt::format("was created for {} bytes, and {} are moved", file->bytes, bytes));
  const auto moving = std::make_shared<MovingFile>(place_, std::move(file), order);
  auto transfer = std::make_unique<TransferUnderWay>(moving);
  mover_.begin(moving);
  return transfer;
}

void SwapDrive::Parts::register_memory(std::span<std::byte> memory) {
  if (memory.empty()) return;
  const std::optional<std::string> refusal =
      is_page_aligned(memory.data()) ? mover_.register_memory(memory) : "they do not begin at a page";
  const std::lock_guard lock(mutex_);
  registration_ = refusal ? fmt::format(", buffers not registered ({})", *refusal) : ", registered buffers";
}

std::string SwapDrive::Parts::description() const {
  const std::string access =
      access_.is_possible
          ? "O_DIRECT"
          : fmt::format("through the page cache (O_DIRECT is refused by {})", access_.refused_by);
  const std::lock_guard lock(mutex_);
  return fmt::format("{}, {}{}", mechanism_, access, registration_);
}

SwapDrive::SwapDrive(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SwapDrive::~SwapDrive() = default;

Result<std::unique_ptr<SwapDrive>> SwapDrive::open(const SwapOptions& options) {
  try {
    SHARDLAB_CHECK_OK(check_swap_options(options));
    SHARDLAB_TRY(SwapFolder folder, SwapFolder::make(options.path, options.run, options.rank));
    SHARDLAB_TRY(const DirectAccess access,
                 try_direct_access(folder.descriptor(), folder.path(), options.rank));
    SHARDLAB_TRY(ChosenEngine engine, choose_swap_engine(options));
    auto parts = std::make_unique<Parts>(std::move(folder), std::move(engine), options, access);
    return std::unique_ptr<SwapDrive>(new SwapDrive(std::move(parts)));
  } catch (const std::exception& error) {  // no thread, or no memory
    return not_possible(swap_place(options.path, options.rank), error.what());
  }
}

Status SwapDrive::register_memory(std::span<std::byte> memory) {
  try {
    parts_->register_memory(memory);
    return {};
  } catch (const std::exception& error) {
    return run_failed("register_memory", error.what());
  }
}

Status SwapDrive::create(const std::string& name, Bytes bytes) {
  try {
    return parts_->create(name, bytes);
  } catch (const std::exception& error) {
    return run_failed(name, error.what());
  }
}

std::unique_ptr<SwapTransfer> SwapDrive::write(const std::string& name, std::int64_t step,
                                               std::span<const std::byte> memory) {
  // An order has one kind of memory; that of a write is only read.
  return parts_->begin(name, {true, step, {const_cast<std::byte*>(memory.data()), memory.size()}});
}

std::unique_ptr<SwapTransfer> SwapDrive::read(const std::string& name, std::span<std::byte> memory) {
  return parts_->begin(name, {false, 0, memory});
}

std::string SwapDrive::description() const {
  return parts_->description();
}

}  // namespace shardlab
