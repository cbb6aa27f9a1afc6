// The figures of a run: one row for each field of RunSummary, the only place that knows them all.
//
// From these rows come the JSON of a run in both directions (run_summary_json.h), the columns of the list of
// runs in the database and in JSON (store/write_run.h, report/json.h), the metrics of a comparison
// (metrics.h), the fields in docs/json.md and the meanings in the window (figure_rows.h). A new figure is a
// field of the struct and a row here; one that the list of runs shows is a field of RunEntry and a migration
// besides.
#pragma once

#include <optional>

#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/summary_figure.h"

namespace shardlab {

template <>
inline constexpr auto k_figures<StepTimeSummary> = std::tuple{
    figure("median", &StepTimeSummary::median,
           "from the first instruction issued by any rank to the end of the last one on any rank; the median "
           "of the steady steps")
        .remarked("null where no time is known")
        .zero_unknown()
        .metric_of({"step_time", MetricUnit::nanoseconds, Listed::always, 0})
        .set_by("train.micro_batch", "train.accumulation", "model.sequence_length", "cluster",
                "parallel.strategy")
        .column_of("step_time_ns", &RunEntry::step_time),
    figure("min", &StepTimeSummary::min, "of the shortest step").zero_unknown(),
    figure("max", &StepTimeSummary::max, "of the longest step").zero_unknown(),
    figure("n", &StepTimeSummary::n, "number of steps"),
};

template <>
inline constexpr auto k_figures<CommunicationTotal> = std::tuple{
    figure("kind", &CommunicationTotal::kind, "of the collectives, as in the plan"),
    figure("group_size", &CommunicationTotal::group_size, "ranks that take part in each"),
    figure("count", &CommunicationTotal::count, "of one rank in one step"),
    figure("bytes", &CommunicationTotal::bytes, "of one rank in one step: the full side of each")
        .remarked("null where an imported trace does not tell them")
        .zero_unknown(),
    figure("sent", &CommunicationTotal::sent, "what all ranks put on the wire for it by the plan")
        .remarked("null where `bytes` is, 9223372036854775807 for that and more")
        .zero_unknown(),
    figure("counted", &CommunicationTotal::counted, "the same as the communicators of a real run counted it"),
};

template <>
inline constexpr auto k_figures<TransferTotal> = std::tuple{
    figure("from", &TransferTotal::from, "`device`, `pinned_host`, `pageable_host`, `disk` or `managed`"),
    figure("to", &TransferTotal::to, "likewise"),
    figure("count", &TransferTotal::count, "instructions of one rank in one step"),
    figure("bytes", &TransferTotal::bytes, "of one rank in one step, as they arrive"),
};

template <>
inline constexpr auto k_figures<SpaceMemory> = std::tuple{
    figure("space", &SpaceMemory::space, "`device`, `pinned_host`, `pageable_host`, `disk` or `managed`"),
    figure("between", &SpaceMemory::between, "alive when a steady step begins: buffers of the plan"),
    figure("peak", &SpaceMemory::peak, "the highest within a step, on the rank where it is highest"),
};

template <>
inline constexpr auto k_figures<CommunicationVolume> = std::tuple{
    figure("sent", &CommunicationVolume::sent,
           "elements that a rank sends in a step by the number of the model's"),
    figure("limit", &CommunicationVolume::limit, "what that tends to with many ranks")
        .remarked("null where no rule is known"),
};

template <>
inline constexpr auto k_figures<TeacherMemory> = std::tuple{
    figure("parameters", &TeacherMemory::parameters, "as stored"),
    figure("gathered", &TeacherMemory::gathered, "gathered, with the buffers of gathers"),
    figure("logits", &TeacherMemory::logits, "that the student's backward still reads"),
};

template <>
inline constexpr auto k_figures<OperatorTime> = std::tuple{
    figure("operation", &OperatorTime::operation, "its kind: `linear`, `attention`"),
    figure("direction", &OperatorTime::backward, "`forward` or `backward`").in_words("forward", "backward"),
    figure("calls", &OperatorTime::calls, "in a step"),
    figure("time_ns", &OperatorTime::time, "of all calls in a step, the mean over steps and ranks"),
};

template <>
inline constexpr auto k_figures<MemoryOverhead> = std::tuple{
    figure("name", &MemoryOverhead::name, "whose it is"),
    figure("bytes", &MemoryOverhead::bytes, "of a rank; with `where: host` of all ranks of a node"),
    figure("low", &MemoryOverhead::low, "the least that was measured; `bytes` where nobody knows"),
    figure("high", &MemoryOverhead::high, "the most that was measured, or that the library takes otherwise"),
    figure("where", &MemoryOverhead::where,
           "`allocator`: on the device, in what the caching allocator reserves; `device`: beside it; `host`"),
    figure("formula", &MemoryOverhead::formula, "how it is counted, in words"),
    figure("source", &MemoryOverhead::source, "where the formula or the figure is from"),
};

template <>
inline constexpr auto k_figures<PhaseMemory> = std::tuple{
    figure("phase", &PhaseMemory::phase,
           "`construct`, `load`, `shard`, `first_step`, `steady`, `evaluate`, `save_full`, `save_sharded`, "
           "`resume`"),
    figure("device", &PhaseMemory::device, "live tensors of the rank with most"),
    figure("host", &PhaseMemory::host, "in the host memory of the node with most, its processes included"),
    figure("asked", &PhaseMemory::asked,
           "whether the scenario's job has this phase; only then `fits` heeds it"),
    figure("runs", &PhaseMemory::runs, "whether `shardlab run` does it; else it is predicted only"),
    figure("formula", &PhaseMemory::formula, "how it is counted, in words"),
};

template <>
inline constexpr auto k_figures<MemorySummary> = std::tuple{
    figure(
        "peak_allocated", &MemorySummary::peak_allocated,
        "the highest sum of the bytes of live tensors within a step, on the rank and in the step where it is "
        "highest")
        .remarked("null where a log does not tell it")
        .zero_unknown()
        .metric_of({"peak_allocated", MetricUnit::bytes, Listed::where_not_zero, 4})
        .set_by("train.micro_batch", "model.sequence_length", "parallel.strategy",
                "parallel.reshard_after_forward", "activation.checkpoint")
        .column_of("peak_allocated", &RunEntry::peak_allocated),
    figure("peak_active", &MemorySummary::peak_active,
           "the highest sum of the blocks in use of a caching allocator")
        .remarked("null on CPUs")
        .metric_of({"peak_active", MetricUnit::bytes, Listed::with_tolerance, 10})
        .set_by("cluster.allocator"),
    figure("peak_reserved", &MemorySummary::peak_reserved,
           "the most that a caching allocator had taken from the device")
        .remarked("null on CPUs")
        .metric_of({"peak_reserved", MetricUnit::bytes, Listed::where_both_know, 11})
        .set_by("cluster.allocator"),
    figure("peak_device", &MemorySummary::peak_device,
           "the most that the process had on the device, with what libraries take for themselves")
        .remarked("null on CPUs")
        .metric_of({"peak_device", MetricUnit::bytes, Listed::where_both_know, 12})
        .set_by("cluster.allocator"),
    figure("allocator_retries", &MemorySummary::allocator_retries,
           "allocations that were granted only after everything unused was given back to the device")
        .remarked("null on CPUs")
        .set_by("cluster.allocator"),
    figure("device_low", &MemorySummary::device_low, "80 % band of `peak_device`, its lower end")
        .remarked("null but for predictions for GPUs"),
    figure("device_high", &MemorySummary::device_high, "its upper end").remarked("likewise"),
    figure("by_class", &MemorySummary::by_class, "what of the peak belongs to this class of buffer")
        .remarked("class of buffer -> bytes; adds up to `peak_allocated`; classes without bytes are left "
                  "out; null where only "
                  "the height of the peak is known (imported traces)")
        .metric_of({"peak.", MetricUnit::bytes, Listed::where_not_zero, 5})
        .set_by("parallel.strategy", "precision", "train.micro_batch"),
    figure("peak_instruction", &MemorySummary::peak_instruction,
           "where the peak is: id of the instruction in the steady plan")
        .remarked("null where the log of another program tells the height alone"),
    figure("peak_label", &MemorySummary::peak_label, "the same for people").remarked("null where that is"),
    figure("peak_rank", &MemorySummary::peak_rank, "the rank with the highest peak")
        .remarked("null where a log does not tell it")
        .negative_unknown(),
    figure("peak_step", &MemorySummary::peak_step, "its step"),
    figure("phases", &MemorySummary::phases, "the highest within each phase of the step")
        .remarked(
            "`forward`, `backward`, `optimizer` -> bytes; in predictions for GPUs `device` of every row of "
            "`life` besides"),
    figure("spaces", &MemorySummary::spaces, "what a rank holds in each memory space, a row each")
        .remarked("the device, and others that hold anything"),
    figure("teacher", &MemorySummary::teacher, "what the teacher of a distillation holds at the peak")
        .remarked("of the plan's buffers; null without a distillation"),
    figure("life", &MemorySummary::life, "the job from its construction to its checkpoints, a row a phase")
        .remarked("empty but for predictions for GPUs"),
    figure("overheads", &MemorySummary::overheads, "what libraries take beside the tensors, a row each")
        .remarked("empty but for predictions for GPUs; not in `peak_allocated`"),
};

template <>
inline constexpr auto k_figures<Alternative> = std::tuple{
    figure("setting", &Alternative::setting, "as for `--set`"),
    figure("effect", &Alternative::effect, "what it does, in words"),
    figure("peak_allocated", &Alternative::peak_allocated, "with it"),
    figure("step_time_ns", &Alternative::step_time, "with it"),
    figure("tokens_per_second", &Alternative::tokens_per_second,
           "with it, which may change how many a step has"),
    figure("fits", &Alternative::fits, "with it: `yes`, `unsure` or `no`"),
};

template <>
inline constexpr auto k_figures<RunSummary> = std::tuple{
    figure("kind", &RunSummary::kind, "`predicted` or `measured`"),
    figure("plan_hash", &RunSummary::plan_hash, "of the steady step")
        .remarked("runs with the same hash compare instruction by instruction"),
    figure("ranks", &RunSummary::ranks, "processes of the run, one a device")
        .remarked("null where a log does not tell them")
        .zero_unknown()
        .set_by("cluster"),
    figure("step_time_ns", &RunSummary::step_time, "the duration of a step"),
    figure("tokens_per_second", &RunSummary::tokens_per_second,
           "tokens whose loss is computed, of all ranks and micro-batches, divided by the step time")
        .remarked("null where nobody knows the tokens (imported runs)")
        .zero_unknown()
        .metric_of({"tokens_per_second", MetricUnit::tokens_per_second, Listed::where_not_zero, 2})
        .set_by("train.micro_batch", "train.accumulation", "model.sequence_length", "cluster")
        .column_of("tokens_per_second", &RunEntry::tokens_per_second),
    figure("tokens_per_second_per_gpu", &RunSummary::tokens_per_second_per_gpu,
           "tokens per second of all ranks, divided by the number of ranks")
        .remarked("null where that is")
        .zero_unknown()
        .metric_of({"tokens_per_second_per_gpu", MetricUnit::tokens_per_second, Listed::with_tolerance, 13})
        .set_by("train.micro_batch", "model.sequence_length", "cluster"),
    figure(
        "mfu", &RunSummary::mfu,
        "model FLOPs per second divided by the device's dense peak for the compute dtype; causal attention "
        "counts half; recomputation, embeddings and gradients that nobody needs do not count")
        .remarked("null where no peak rate of the device is known")
        .metric_of({"mfu", MetricUnit::fraction, Listed::where_not_zero, 3})
        .set_by("precision.param", "train.micro_batch", "model.sequence_length")
        .column_of("mfu", &RunEntry::mfu),
    figure("mfu_palm", &RunSummary::mfu_palm,
           "the same by PaLM's convention: 6 N + 12 L h s FLOPs a token (N parameters that a token uses, L "
           "layers, h heads times their dimension, s tokens a sequence)")
        .remarked("null where `mfu` is, where a part of the model is frozen and for distillations"),
    figure("exposed_communication_ns", &RunSummary::exposed_communication,
           "time in which the compute stream is idle and waits, directly or through other instructions, for "
           "communication; the mean over ranks, the median over steps")
        .remarked("null for runs that were read off a log")
        .negative_unknown()
        .metric_of({"exposed_communication", MetricUnit::nanoseconds, Listed::always, 1})
        .set_by("parallel.prefetch", "parallel.wrap", "parallel.mesh", "train.micro_batch")
        .column_of("exposed_communication_ns", &RunEntry::exposed_communication),
    figure("communication", &RunSummary::communication,
           "payload of one rank in one step: the full side of each collective of this kind, added up")
        .remarked("an element for each kind and size of group")
        .metric_of({"communication.", MetricUnit::bytes, Listed::where_not_zero, 7, "communication_bytes"})
        .set_by("parallel.strategy", "parallel.mesh", "precision.param", "precision.reduce",
                "train.accumulation"),
    figure("transfers", &RunSummary::transfers,
           "what a rank moves between memory spaces in one step, a row each")
        .remarked("empty where everything stays on the device")
        .set_by("offload.parameters", "offload.optimizer"),
    figure("volume", &RunSummary::volume,
           "parameters and gradients that a rank sends in a step, measured in models")
        .remarked("null without communication"),
    figure("skipped_steps", &RunSummary::skipped_steps,
           "steps of the run, warm-up included, that were skipped because a gradient was not finite")
        .remarked("null where a log does not tell them")
        .negative_unknown(),
    figure("memory", &RunSummary::memory, "of the rank with the highest peak")
        .remarked("null where the run recorded none"),
    figure("memory_limit", &RunSummary::memory_limit, "bytes that a rank may use"),
    figure("fits", &RunSummary::fits,
           "whether the run fits what a rank may use: `yes`, `no`, or `unsure`, where `fit_probability` lies "
           "between 10 and 90 %, or the allocator has to give memory back and ask again, or has to where "
           "libraries take `fit_margin` more")
        .set_by("cluster")
        .column_of("fits", &RunEntry::fits),
    figure(
        "fit_probability", &RunSummary::fit_probability,
        "how likely its steps run on the device, by the errors of earlier predictions and the ranges of what "
        "libraries take")
        .remarked("0 to 1; null where measured, on processors, and where the device's memory is unknown"),
    figure("fit_reason", &RunSummary::fit_reason, "in words, what does not fit, or only just")
        .remarked("null where a prediction fits, where measured, and on processors"),
    figure("fit_margin", &RunSummary::fit_margin,
           "bytes that libraries on a GPU may take beyond what `peak_device` reckons with")
        .remarked("null where measured, and on processors"),
    figure("implementation", &RunSummary::implementation,
           "whose operators: `eager`, those of PyTorch and the transformers modules, or `fused`, ours")
        .remarked("null for imported runs")
        .set_by("model.implementation")
        .column_of("implementation", &RunEntry::implementation),
    figure("compiled", &RunSummary::compiled,
           "what torch.compile covers: `blocks`, every layer by itself, or `whole`, the model with its loss")
        .remarked("null where nothing is compiled, and for imported runs")
        .set_by("model.compile"),
    figure("ended_by", &RunSummary::ended_by,
           "what ended a run that could not be finished: memory, where and with what in use")
        .remarked("its times are null then"),
    figure("operators", &RunSummary::operators, "what each kind of operator takes")
        .remarked("with `measure.detail: operators`; else empty")
        .metric_of({"operator.", MetricUnit::nanoseconds, Listed::where_both_know, 8}),
    figure("losses", &RunSummary::losses, "mean over the tokens of a step, over all ranks")
        .remarked("numbers, every step from the first, of a log those that it has; empty when predicted")
        .set_by("train.learning_rate", "train.seed")
        .column_of("last_loss", &RunEntry::last_loss,
                   "mean over the tokens of the last step, over all ranks"),
    figure("steps_per_loss", &RunSummary::steps_per_loss,
           "steps from one of `losses` to the next: 1 but for logs that tell fewer")
        .remarked("null where a log numbers no steps")
        .zero_unknown(),
    figure("gradient_norms", &RunSummary::gradient_norms, "of all gradients, before clipping")
        .remarked("numbers, every step from the first; empty without clipping or when predicted"),
    figure("calibrated", &RunSummary::calibrated, "whether the prediction used measurements of this device")
        .column_of("calibrated", &RunEntry::calibrated),
    figure("assumes", &RunSummary::assumes,
           "texts: what a prediction takes for given: figures that are estimates, balanced experts"),
    figure("leaves_out", &RunSummary::leaves_out, "texts: what the figures do not contain"),
    figure(
        "alternatives", &RunSummary::alternatives,
        "what `simulate` predicts with one key of the scenario changed: the other implementation where the "
        "scenario left it open, and every setting that halves the memory at the peak"),
};

// Calls visit(figure, value) for every figure of `owner` and of the structs in it, in the order of the rows;
// lists are not entered. `value` points to the field's value, null below what is absent.
template <typename Owner, typename Visit>
void visit_figures(const Owner* owner, const Visit& visit) {
  const auto visit_struct = [&]<typename Value>(const Value* value) {
    if constexpr (k_has_figures<Value>) visit_figures(value, visit);
  };
  const auto visit_optional = [&]<typename Value>(const std::optional<Value>* value) {
    if constexpr (k_has_figures<Value>) visit_figures(value && *value ? &**value : nullptr, visit);
  };
  const auto visit_one = [&](const auto& figure) {
    const auto* value = owner ? &(owner->*figure.member) : nullptr;
    visit(figure, value);
    if constexpr (requires { visit_optional(value); })
      visit_optional(value);
    else
      visit_struct(value);
  };
  std::apply([&](const auto&... figures) { (visit_one(figures), ...); }, k_figures<Owner>);
}

// Calls visit(figure) for every figure that is a column, in the order of the rows.
template <typename Visit>
void visit_columns(const Visit& visit) {
  visit_figures<RunSummary>(nullptr, [&]<typename Row>(const Row& row, const auto*) {
    if constexpr (Row::k_is_column) visit(row);
  });
}

// Fills the columns of `entry` with the figures of `run`.
void set_columns(RunEntry& entry, const RunSummary& run);

}  // namespace shardlab
