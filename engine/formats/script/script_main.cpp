#include <fmt/format.h>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_main = R"py(

def options_of_command():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=DATA, help="files to train on")
    parser.add_argument("--weights", default=WEIGHTS, help="safetensors to begin with: a file, or the index of several")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps to train [{STEPS}]")
    parser.add_argument("--record", metavar="DIR", help="keep times, losses, memory and a profile there")
    return parser.parse_args()


def main():
    options = options_of_command()
    if not options.data:
        sys.exit("--data is required: the scenario names none")
    if options.steps < 1:
        sys.exit(f"--steps {options.steps}: has to be 1 or more")
@SETUP@    dist.init_process_group(@BACKEND@)
    if dist.get_world_size() != RANKS:
        sys.exit(f"this program is for {RANKS} ranks, not {dist.get_world_size()}")
    torch.manual_seed(SEED)
    batches, record = Batches(options.data), Record(options.record)
@MAKE@    for step in range(options.steps):
        record.step(lambda: train_step(model, optimizer, batches, step))
        if dist.get_rank() == 0:
            print(f"step {step}: loss {record.losses[-1].item():.6f} on rank 0, {record.seconds[-1]:.4f} s", flush=True)
    record.profile(lambda step: train_step(model, optimizer, batches, step))
    record.finish()
    dist.barrier()
    dist.destroy_process_group()
@END@

if __name__ == "__main__":
    main()
)py";

// Seen with torch 2.11: FSDP2's caches keep the group alive past its end, and a thread of Gloo that gives its
// last tensor back while the interpreter ends aborts the whole process. Asleep, the main thread lets it have
// the interpreter's lock.
constexpr std::string_view k_end_with_gloo =
    R"py(    time.sleep(1)  # Gloo's threads give their last tensors back: while the interpreter ends, that would abort the process
)py";

constexpr std::string_view k_make = R"py(    model = shard(make_model(options.weights))
    optimizer = make_optimizer(model)
)py";

constexpr std::string_view k_make_deepspeed = R"py(    model = shard(make_model(options.weights))
    optimizer = model.optimizer
)py";

// No rank but the first holds the whole model, and that one in host memory.
constexpr std::string_view k_make_and_fill = R"py(    with torch.device("meta"):
        model = shard(make_model(None))
    fill_from_rank0(model, make_model(options.weights) if dist.get_rank() == 0 else None)
    optimizer = make_optimizer(model)
)py";

std::string_view make_lines(const ExportSubject& subject) {
  if (by_deepspeed(subject)) return k_make_deepspeed;
  return fills_from_rank0(subject) ? k_make_and_fill : k_make;
}

std::string setup_line(const ExportSubject& subject) {
  if (!on_processors(subject)) return "    torch.cuda.set_device(DEVICE)\n";
  return fmt::format("    torch.set_num_threads({})\n", subject.scenario.cluster->threads_per_rank);
}

// Gradients that lie in host memory are clipped there: their norms are added up over Gloo.
bool uses_gloo(const ExportSubject& subject) {
  const bool in_host = subject.scenario.offload->parameters != OffloadTarget::none;
  return on_processors(subject) || (in_host && is_fsdp(subject));
}

std::string backend_of(const ExportSubject& subject) {
  if (on_processors(subject)) return "\"gloo\"";
  return uses_gloo(subject) ? "\"cpu:gloo,cuda:nccl\"" : "\"nccl\", device_id=DEVICE";
}

}  // namespace

std::string script_main(const ExportSubject& subject) {
  return filled(k_main, {{"SETUP", setup_line(subject)},
                         {"BACKEND", backend_of(subject)},
                         {"MAKE", std::string(make_lines(subject))},
                         {"END", uses_gloo(subject) ? std::string(k_end_with_gloo) : ""}});
}

}  // namespace shardlab
