// Times a drive: a file is written and read as the optimizer's state is swapped, by all ranks at once.
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "engine/execute/swap/swap_drive.h"
#include "engine/execute/torch/memory/drive_memory.h"
#include "engine/execute/torch/probes/probe_session.h"

namespace shardlab {

Status probe_drive(const ProbeSession& session, const ProbeCase& probe) {
  constexpr const char* k_file = "probe";
  const std::int64_t bytes = shape_number(probe, "bytes");
  const at::Tensor memory = at_page(bytes, at::kByte).fill_(1);
  SwapOptions options;
  options.path = probe.probe.substr(k_drive_probe.size());
  options.run = fmt::format("probe-{}", ::getpid());
  SHARDLAB_TRY(const std::unique_ptr<SwapDrive> drive, SwapDrive::open(options));
  SHARDLAB_CHECK_OK(drive->register_memory(bytes_of_tensor(memory)));
  SHARDLAB_CHECK_OK(drive->create(k_file, {bytes}));
  session.barrier();
  const auto written =
      session.time([&](int) { or_throw(drive->write(k_file, 0, bytes_of_tensor(memory))->wait()); });
  SHARDLAB_CHECK_OK(session.emit("drive.write", {{"bytes", bytes}}, written));
  session.barrier();
  const auto read =
      session.time([&](int) { or_throw(drive->read(k_file, bytes_of_tensor(memory))->wait()); });
  return session.emit("drive.read", {{"bytes", bytes}}, read);
}

}  // namespace shardlab
