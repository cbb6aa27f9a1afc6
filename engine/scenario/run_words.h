// The words of the `semantics`, `cluster`, `checkpoint`, `launch`, `measure` and `limits` sections of a
// scenario.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class IntraNodeLink : std::uint8_t { nvlink, pcie };
template <>
inline constexpr auto k_words<IntraNodeLink> =
    std::to_array<Word<IntraNodeLink>>({{IntraNodeLink::nvlink, "nvlink"}, {IntraNodeLink::pcie, "pcie"}});

// One file of everything, one file a rank, or raw shards.
enum class CheckpointType : std::uint8_t { full, sharded, local };
template <>
inline constexpr auto k_words<CheckpointType> = std::to_array<Word<CheckpointType>>(
    {{CheckpointType::full, "full"}, {CheckpointType::sharded, "sharded"}, {CheckpointType::local, "local"}});

enum class CommunicationBackend : std::uint8_t { nccl, gloo };
template <>
inline constexpr auto k_words<CommunicationBackend> = std::to_array<Word<CommunicationBackend>>(
    {{CommunicationBackend::nccl, "nccl"}, {CommunicationBackend::gloo, "gloo"}});

// Who issues the instructions of a predicted step.
enum class HostProgram : std::uint8_t { shardlab, python };
template <>
inline constexpr auto k_words<HostProgram> =
    std::to_array<Word<HostProgram>>({{HostProgram::shardlab, "shardlab"}, {HostProgram::python, "python"}});

// Who starts the ranks.
enum class Launcher : std::uint8_t { local, torchrun, slurm, mpirun };
template <>
inline constexpr auto k_words<Launcher> = std::to_array<Word<Launcher>>({{Launcher::local, "local"},
                                                                         {Launcher::torchrun, "torchrun"},
                                                                         {Launcher::slurm, "slurm"},
                                                                         {Launcher::mpirun, "mpirun"}});

// What is timed.
enum class MeasureDetail : std::uint8_t { instructions, operators };
template <>
inline constexpr auto k_words<MeasureDetail> = std::to_array<Word<MeasureDetail>>(
    {{MeasureDetail::instructions, "instructions"}, {MeasureDetail::operators, "operators"}});

// What a search makes best.
enum class Objective : std::uint8_t { tokens_per_second, step_time, price, memory };
template <>
inline constexpr auto k_words<Objective> =
    std::to_array<Word<Objective>>({{Objective::tokens_per_second, "tokens_per_second"},
                                    {Objective::step_time, "step_time"},
                                    {Objective::price, "price"},
                                    {Objective::memory, "memory"}});

}  // namespace shardlab
