// A communicator's row: the buffers of the algorithms that its collectives use. Which one NCCL takes depends
// on the message: rings gather and reduce to shards; an all-reduce of one node goes through its switch where
// that can add (NVLS) and the message is large, else around a ring; across nodes small ones take a tree,
// large ones a ring.
#include <fmt/format.h>

#include <algorithm>

#include "engine/scenario/choose_implementation.h"
#include "engine/scenario/strategy_facts.h"
#include "simulator/memory/overheads/nccl_buffers.h"
#include "simulator/memory/overheads/overhead_rows.h"

namespace shardlab {
namespace {

struct Algorithms {
  bool ring = false, tree = false, nvls = false, all_to_all = false;
};

Algorithms used(const PlannedCommunicator& its, const NcclBuffers& buffers, const NcclMemory& figures) {
  Algorithms all{.ring = its.rings, .all_to_all = its.all_to_all};
  for (const Bytes size : its.all_reduces) {
    const bool by_switch = its.nodes == 1 && buffers.has_nvls(its) && size >= figures.all_reduce_nvls_from;
    all.nvls |= by_switch;
    all.ring |= !by_switch;
    all.tree |= its.nodes > 1;
  }
  return all;
}

// What is added up, in words.
class Terms {
 public:
  void add(std::string words, NcclBytes bytes) {
    sum_ = sum_ + bytes;
    if (bytes.device.value > 0)
      text_ += fmt::format("{}{} {}", text_.empty() ? "" : ", ", words, to_string(bytes.device));
  }
  const NcclBytes& sum() const { return sum_; }
  std::string text() const { return text_.empty() ? "all of it in host memory" : text_; }

 private:
  NcclBytes sum_;
  std::string text_;
};

Terms terms_of(const PlannedCommunicator& its, const NcclBuffers& buffers, const NcclMemory& figures) {
  const Algorithms algorithms = used(its, buffers, figures);
  const std::string channels = fmt::format("{} channels", buffers.channels(its));
  Terms terms;
  if (algorithms.ring) terms.add(fmt::format("ring of {}", channels), buffers.ring(its));
  if (algorithms.tree) terms.add(fmt::format("tree of {}", channels), buffers.tree(its));
  if (algorithms.nvls)
    terms.add(fmt::format("NVLS of {} channels and {} ranks", buffers.nvls_channels(), its.ranks_per_node),
              buffers.nvls(its));
  if (algorithms.all_to_all)
    terms.add(fmt::format("all-to-all of {} channels a peer", buffers.channels_of_peers(its)),
              buffers.all_to_all(its));
  return terms;
}

// As where connections cannot wait for their first use (no cuMem): everything but all-to-all at once.
Bytes everything(const PlannedCommunicator& its, const NcclBuffers& buffers) {
  NcclBytes sum = buffers.ring(its) + buffers.tree(its) + buffers.nvls(its) + buffers.shared(its);
  if (its.all_to_all) sum = sum + buffers.all_to_all(its);
  return sum.device;
}

std::string ranks_text(const PlannedCommunicator& its) {
  return its.nodes == 1 ? fmt::format("{} ranks", its.ranks)
                        : fmt::format("{} ranks on {} nodes", its.ranks, its.nodes);
}

Overheads rccl_overheads(const std::vector<PlannedCommunicator>& communicators,
                         const RuntimeMemory& runtime) {
  Overheads rows;
  for (const PlannedCommunicator& its : communicators) {
    const bool first = rows.empty();
    const Bytes bytes = first ? runtime.rccl_first : runtime.rccl_further;
    rows.push_back({.name = fmt::format("RCCL {}, {}", its.name, ranks_text(its)),
                    .bytes = bytes,
                    .low = bytes,
                    .high = bytes,
                    .where = OverheadPlace::device,
                    .formula = first ? "as measured of a first communicator" : "as measured of a further one",
                    .source = runtime.source("rccl.first_communicator")});
  }
  return rows;
}

// torchrun's programs make a group, whatever its size, for every strategy but none.
bool makes_group(const PlannedScenario& planned) {
  return choose_host(planned.scenario) == HostProgram::python &&
         facts_of(planned.scenario).framework != Framework::none;
}

MemoryOverhead kernels_of_nccl(const RuntimeMemory& runtime) {
  return {.name = "kernels of NCCL",
          .bytes = runtime.nccl.kernels,
          .low = {},
          .high = runtime.nccl.kernels_high,
          .where = OverheadPlace::device,
          .formula = "one a process, loaded with its first communicator",
          .source = runtime.source("nccl.kernels")};
}

}  // namespace

Overheads communication_overheads(const PlannedScenario& planned,
                                  const std::vector<PlannedCommunicator>& communicators, const Device& device,
                                  const RuntimeMemory& runtime) {
  if (device.cuda_capability == 0) return rccl_overheads(communicators, runtime);
  const NcclBuffers buffers(device, runtime.nccl);
  Overheads rows;
  if (!communicators.empty() || makes_group(planned)) rows.push_back(kernels_of_nccl(runtime));
  for (const PlannedCommunicator& its : communicators) {
    const Terms terms = terms_of(its, buffers, runtime.nccl);
    const Bytes bytes = terms.sum().device;
    rows.push_back({.name = fmt::format("NCCL {}, {}", its.name, ranks_text(its)),
                    .bytes = bytes,
                    .low = bytes,
                    .high = std::max(bytes, everything(its, buffers)),
                    .where = OverheadPlace::device,
                    .formula = terms.text(),
                    .source = "nccl 2.30.7 src/init.cc, src/transport, src/graph; sizes as in nccl issue "
                              "1685, sums as in 964"});
  }
  return rows;
}

Bytes nccl_host_bytes(const std::vector<PlannedCommunicator>& communicators, const Device& device,
                      const RuntimeMemory& runtime) {
  const NcclBuffers buffers(device, runtime.nccl);
  Bytes sum;
  for (const PlannedCommunicator& its : communicators)
    sum += terms_of(its, buffers, runtime.nccl).sum().host + runtime.nccl.work_queue;
  return sum;
}

}  // namespace shardlab
