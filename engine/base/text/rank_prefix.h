// Which rank wrote a line, by what launchers and libraries put before it.
#pragma once

#include <optional>
#include <string_view>

namespace shardlab {

struct RankedLine {
  std::optional<int> rank;
  std::string_view text;  // without the prefixes
};

// Known: `[rank3]:` (PyTorch), `[Rank 3]` and `[PG ID 0 PG GUID 0 Rank 3]` (ProcessGroupNCCL), `3: ` (srun
// --label), `[default3]:` and `[trainer3]:` (torchrun's tee), `[1,3]<stderr>:` (mpirun --tag-output),
// `worker-0: ` and `node1: ` (pdsh of DeepSpeed), `(RANK 3)`, `rank=3`, `(Actor pid=1, ip=..)` (Ray), and
// times of day before them. The first that names a rank wins.
RankedLine rank_of_line(std::string_view line);

}  // namespace shardlab
