#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_batches = R"py(
class Batches:
    """The sequences of all files, one after the other. A step takes the next global batch, every rank its equal part of it."""

    def __init__(self, files):
        self.files = [np.memmap(file, np.uint16 if file.endswith(".bin") else np.uint8, "r") for file in files]
        # The last token of a file is a target only.
        self.ends = np.cumsum([(len(file) - 1) // SEQUENCE_LENGTH for file in self.files])
        if self.ends[-1] == 0:
            sys.exit(f"{files}: less than one sequence of {SEQUENCE_LENGTH} tokens and its last target")
@FIRST_ORDER@
@ORDER@
    def sequence(self, k):
        index = @INDEX@
        file = int(np.searchsorted(self.ends, index, side="right"))
        start = (index - (self.ends[file - 1] if file else 0)) * SEQUENCE_LENGTH
        return self.files[file][start:start + SEQUENCE_LENGTH + 1]

    def load(self, step, micro_batch):
        """Tokens and, one further, targets."""
        first = ((step * dist.get_world_size() + dist.get_rank()) * ACCUMULATION + micro_batch) * MICRO_BATCH
        rows = np.stack([self.sequence(first + row) for row in range(MICRO_BATCH)])
        batch = torch.from_numpy(rows.astype(np.int64)).to(DEVICE)
        return batch[:, :-1].contiguous(), batch[:, 1:].contiguous()
)py";

constexpr std::string_view k_shuffled = R"py(
    def order(self, epoch):
        """Of the sequences: Fisher and Yates by splitmix64, the same on every rank and machine."""
        if self.shuffled[0] != epoch:
            values, state = list(range(int(self.ends[-1]))), mixed(SEED * GOLDEN + mixed(epoch + GOLDEN))
            for i in range(len(values), 1, -1):
                state = (state + GOLDEN) & MASK
                j = mixed(state) * i >> 64
                values[i - 1], values[j] = values[j], values[i - 1]
            self.shuffled = (epoch, values)
        return self.shuffled[1]
)py";

constexpr std::string_view k_splitmix = R"py(
GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def mixed(state):
    state &= MASK
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31

)py";

}  // namespace

std::string script_batches(const ExportSubject& subject) {
  const bool shuffled = subject.scenario.train->order == DataOrder::shuffled;
  const std::string text =
      filled(k_batches,
             {{"FIRST_ORDER", shuffled ? "        self.shuffled = (None, [])  # epoch and its order\n" : ""},
              {"ORDER", shuffled ? std::string(k_shuffled.substr(1)) : ""},
              {"INDEX", shuffled ? "self.order(k // int(self.ends[-1]))[k % int(self.ends[-1])]"
                                 : "k % int(self.ends[-1])"}});
  return (shuffled ? std::string(k_splitmix) : "\n") + text;
}

}  // namespace shardlab
