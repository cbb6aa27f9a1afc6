// What FSDP and device meshes refuse (torch/distributed/fsdp, torch/distributed/device_mesh.py).
#include "engine/doctor/rules/configuration/refusals.h"

namespace shardlab {
namespace {

constexpr std::string_view k_arguments =
    "FSDP refuses the module or the arguments that it was given. The message says which.";
constexpr std::string_view k_groups =
    "torch.distributed refuses the arguments of a process group. The message says which.";
constexpr std::string_view k_mesh =
    "The device mesh is not of the shape that it is used for: a dimension is missing, or its name is "
    "another.";
constexpr std::string_view k_mesh_fix =
    "a mesh whose sizes multiply to the number of ranks, with one named dimension for sharding, and one for "
    "replicas before it where the strategy is hybrid";

LogSign of_arguments(std::string_view pattern, int certainty = 84, std::string_view frame = {}) {
  return {.pattern = pattern, .certainty = certainty, .frame = frame, .message = k_arguments};
}

LogSign of_mesh(std::string_view pattern, int certainty = 84, std::string_view frame = {}) {
  return {.pattern = pattern, .certainty = certainty, .frame = frame, .message = k_mesh, .fix = k_mesh_fix};
}

LogSign of_groups(std::string_view pattern, int certainty = 84, std::string_view frame = {}) {
  return {.pattern = pattern, .certainty = certainty, .frame = frame, .message = k_groups};
}

}  // namespace

std::vector<LogSign> refusals_of_fsdp() {
  constexpr std::string_view k_init = "torch/distributed/fsdp/_fully_shard/_fsdp_init.py";
  constexpr std::string_view k_meshes = "torch/distributed/device_mesh.py";
  return {
      of_mesh("expected device_mesh to have ndim"),
      of_mesh("fully_shard expects a 1d or 2d devicemesh"),
      of_mesh("please init the 2d mesh for hsdp"),
      of_mesh("invalid mesh_dim_name"),
      of_mesh("mesh dimension '*' does not exist"),
      of_mesh("mesh_shape and mesh_dim_names should have same length"),
      of_mesh("cannot slice a devicemesh without mesh_dim_names"),
      of_mesh("only 1d device mesh is supported"),
      of_mesh("requires dtensor to have mesh of the same type as the fsdp mesh"),
      of_mesh("explicit specification of process group or device_mesh"),
      of_mesh("ensure the corresponding parallelism dimension is enabled"),
      of_arguments("expects full precision but got", 78),
      of_mesh("valueerror: ", 62, k_meshes),
      of_mesh("runtimeerror: ", 60, k_meshes),
      of_mesh("keyerror: ", 62, k_meshes),
      {.pattern = "composable distributed api can only be applied to a module once",
       .certainty = 90,
       .message = "fully_shard or replicate was called twice on one module.",
       .fix = "one call for each module: the layers first, then the model around them"},
      {.pattern = "the `grad_fn` is needed to access the `accumulategrad`",
       .certainty = 86,
       .message = "The wrapped model first ran under torch.inference_mode: its gathered parameters are "
                  "inference tensors, which cannot be trained.",
       .fix = "evaluate under torch.no_grad() instead"},
      of_arguments("on inner fsdp instances is not supported"),
      of_arguments("should only be called on the root fsdp instance"),
      of_arguments("on a module already managed by `fully_shard`"),
      of_arguments("use_reentrant=true is not supported in composable checkpoint"),
      of_arguments("notimplementederror: ", 60, "torch/distributed/fsdp/_unshard_param_utils.py"),
      of_groups("trying to initialize the default process group twice", 86),
      of_groups("valueerror: ", 56, "torch/distributed/distributed_c10d.py*in init_process_group"),
      of_groups("valueerror: ", 56, "torch/distributed/distributed_c10d.py*in new_"),
      of_groups("valueerror: ", 56, "torch/distributed/distributed_c10d.py*in split_group"),
      of_groups("backend does not support splitting"),
      of_arguments("cannot pass both process_group and device_mesh", 88),
      of_arguments("cannot specify both process_group and device_mesh", 88),
      of_arguments("cannot pass both ignored_modules and ignored_states", 88),
      of_arguments("ignored_modules` should not include fsdp modules"),
      of_arguments("reshard_after_forward should be"),
      of_arguments("reshard_after_forward as an int, it should be a factor of"),
      of_arguments("fsdp does not support deepcopy"),
      of_arguments("full_state_dict must be true when broadcast_from_rank0"),
      of_arguments("valueerror: ", 62, k_init),
      of_arguments("assertionerror: ", 60, k_init),
  };
}

}  // namespace shardlab
