// Which rules there are: a line for each file below this folder, by topic, in the order in which they are
// listed everywhere.
//
// A line ADD(topic_file) stands for engine/doctor/rules/<topic>/<file>.cpp, which defines that function.
#pragma once

#include <vector>

#include "engine/doctor/rule.h"

#define SHARDLAB_RULES(ADD)                  \
  ADD(checkpoint_state_keys)                 \
  ADD(checkpoint_objects_and_devices)        \
  ADD(checkpoint_damaged)                    \
  ADD(checkpoint_written_by_another_version) \
  ADD(checkpoint_world_size)                 \
  ADD(checkpoint_full_saves)                 \
  ADD(checkpoint_choice)                     \
  ADD(checkpoint_disk_full)                  \
  ADD(checkpoint_zero_saves)                 \
  ADD(checkpoint_state_dict_types)           \
  ADD(collectives_rank_skips_collective)     \
  ADD(collectives_shapes_differ)             \
  ADD(collectives_hang_without_cause)        \
  ADD(collectives_timeout)                   \
  ADD(collectives_remote_error)              \
  ADD(collectives_end_of_job)                \
  ADD(compile_with_fsdp)                     \
  ADD(compile_graph_breaks)                  \
  ADD(compile_cuda_graphs)                   \
  ADD(configuration_accelerate_and_trainer)  \
  ADD(configuration_file_syntax)             \
  ADD(configuration_ignored_settings)        \
  ADD(configuration_deepspeed_file)          \
  ADD(configuration_unknown_key)             \
  ADD(configuration_refused_settings)        \
  ADD(configuration_effective_configuration) \
  ADD(configuration_zero_options_of_memory)  \
  ADD(configuration_zero_trace)              \
  ADD(configuration_async_io)                \
  ADD(data_workers_bus_error)                \
  ADD(data_loading)                          \
  ADD(data_order_of_samples)                 \
  ADD(data_storage)                          \
  ADD(data_unbalanced)                       \
  ADD(environment_variables)                 \
  ADD(environment_wrong_accelerator)         \
  ADD(environment_failing_gpu)               \
  ADD(environment_ended_from_outside)        \
  ADD(environment_hub_access)                \
  ADD(habits_watch)                          \
  ADD(habits_before_the_launch)              \
  ADD(habits_debugging)                      \
  ADD(memory_allocation_failed)              \
  ADD(memory_batch_size)                     \
  ADD(memory_activation_memory)              \
  ADD(memory_measured_memory)                \
  ADD(memory_states)                         \
  ADD(memory_gradients_at_rest)              \
  ADD(memory_gathered_units)                 \
  ADD(memory_prefetched_units)               \
  ADD(memory_fragmentation)                  \
  ADD(memory_held_by_others)                 \
  ADD(memory_host_exhausted)                 \
  ADD(memory_pinned_memory)                  \
  ADD(memory_recomputation)                  \
  ADD(mesh_tensor_parallel)                  \
  ADD(network_interface)                     \
  ADD(network_infiniband)                    \
  ADD(network_bad_link)                      \
  ADD(network_direct_access)                 \
  ADD(network_infiniband_settings)           \
  ADD(network_nccl_error)                    \
  ADD(network_shared_memory)                 \
  ADD(network_peer_to_peer)                  \
  ADD(network_slow_links)                    \
  ADD(numerics_not_finite)                   \
  ADD(numerics_unstable_loss)                \
  ADD(numerics_large_steps)                  \
  ADD(offload_offload)                       \
  ADD(precision_half)                        \
  ADD(precision_bfloat16)                    \
  ADD(precision_unsupported_type)            \
  ADD(precision_low_precision_sums)          \
  ADD(prefetch_prefetch)                     \
  ADD(speed_communication)                   \
  ADD(start_meeting_the_ranks)               \
  ADD(start_ports)                           \
  ADD(start_launcher_missing)                \
  ADD(start_launch_command)                  \
  ADD(start_different_models)                \
  ADD(start_devices)                         \
  ADD(start_same_device)                     \
  ADD(start_other_devices)                   \
  ADD(strategy_replicate_or_shard)           \
  ADD(strategy_too_little_sharding)          \
  ADD(strategy_hybrid)                       \
  ADD(strategy_where_to_start)               \
  ADD(training_clipping)                     \
  ADD(training_kernel_faults)                \
  ADD(training_optimizer)                    \
  ADD(training_unused_parameters)            \
  ADD(versions_functions)                    \
  ADD(wrap_one_unit)                         \
  ADD(wrap_size_policy)                      \
  ADD(wrap_classes)                          \
  ADD(wrap_flat_parameter)                   \
  ADD(wrap_tied_weights)                     \
  ADD(wrap_outside_units)                    \
  ADD(wrap_unsupported_operation)            \
  ADD(wrap_zero3_embedding)

namespace shardlab {

#define SHARDLAB_DECLARE_RULES(name) std::vector<Rule> name##_rules();
SHARDLAB_RULES(SHARDLAB_DECLARE_RULES)
#undef SHARDLAB_DECLARE_RULES

}  // namespace shardlab
