#include "engine/execute/torch/communication/nccl_session.h"

#include <exception>
#include <utility>

#include "engine/execute/gpu_places.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {

Result<Communicators> NcclSession::connect(std::shared_ptr<SharedValues> values,
                                           const std::vector<RankGroup>& groups, const NcclStreams& streams,
                                           const std::string& gpu) {
  peers_ = std::make_shared<PeerListener>(values, environment_.rank, environment_.world);
  watch_.add({[peers = peers_] { return peers->failure(); }, [](const std::string&) {}});
  SHARDLAB_CHECK_OK(agree(values, gpu));
  NcclPatience patience;
  patience.connect = timeout_;
  Communicators communicators;
  for (const RankGroup& group : groups) {
    const NcclGroup members{to_text(group.set), group.ranks, environment_.rank};
    SHARDLAB_TRY(NcclConnection connection,
                 make_nccl_communicator(*nccl_, members, streams, *values, watch_, patience));
    handles_.push_back(connection.handle);
    SHARDLAB_CHECK_OK(try_out(*connection.communicator, streams));
    communicators[group.set] = std::move(connection.communicator);
  }
  return communicators;
}

Status NcclSession::agree(const std::shared_ptr<SharedValues>& values, const std::string& gpu) {
  SHARDLAB_TRY(nccl_, load_nccl());
  SHARDLAB_CHECK_OK(compare_nccl_versions(*nccl_, environment_.rank, *values, watch_, timeout_));
  if (gpu.empty()) return {};
  return check_each_has_its_own(*values, environment_, gpu, timeout_, [this] { return watch_.failure(); });
}

// NCCL connects an algorithm at its first use: here rather than in the first step.
Status NcclSession::try_out(Communicator& communicator, const NcclStreams& streams) const {
  const Place place = on_rank(environment_.rank, "the first collectives");
  try {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    make_first_collectives(communicator, streams.device);
    streams.wait(streams.current());
  } catch (const std::exception& error) {
    return run_failed(place, first_line(error.what()));
  }
  if (const auto failure = watch_.failure()) return run_failed(place, *failure);
  return {};
}

void NcclSession::report(const std::string& what) {
  if (peers_) peers_->report(what);
}

void NcclSession::finish() {
  watch_.stop();
  if (peers_) peers_->finish();
  for (const auto& handle : handles_) handle->close();
}

}  // namespace shardlab
