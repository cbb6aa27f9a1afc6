// What nvidia-smi prints of GPUs: tables with commas, and matrices. Private to this folder.
#pragma once

#include <string_view>
#include <vector>

#include "engine/machine/machine_facts.h"

namespace shardlab {

// --query-gpu=index,uuid,name,memory.total,memory.used,compute_cap,pcie.link.width.current,
// pcie.link.width.max --format=csv,nounits, in any order and with any others. Memory is in MiB.
std::vector<MachineGpu> gpus_of(std::string_view table);

// --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv,nounits.
std::vector<GpuProcess> gpu_processes_of(std::string_view table);

// topo -m, topo -p2p r: the rows and columns of GPUs; others (adapters, affinities) are left out, and so are
// the legend and the colours of a terminal.
GpuMatrix gpu_matrix_of(std::string_view text);

}  // namespace shardlab
