#include "engine/store/write_trace.h"

#include <fmt/format.h>

#include "engine/store/packed.h"
#include "engine/store/sql_values.h"

namespace shardlab {
namespace {

std::string placeholders(std::size_t count) {
  std::string text = "?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text;
}

// Prepared once for a whole run.
class TraceWriter {
 public:
  TraceWriter(SQLite::Database& db, std::int64_t run, const PlanIds& plans)
      : db_(db),
        run_(run),
        plans_(plans),
        step_(db,
              "INSERT INTO steps (run_id, step, rank, warmup, plan_id, start_offset_ns, duration_ns, loss, "
              "gradient_norm, packed) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        span_(db,
              "INSERT INTO spans (step_id, instruction, issue_ns, ready_ns, start_ns, end_ns, skipped) "
              "VALUES (?, ?, ?, ?, ?, ?, ?)"),
        memory_(db, fmt::format("INSERT INTO memory (step_id, instruction, {}) VALUES ({})", memory_columns(),
                                placeholders(4 + 2 * k_buffer_classes))),
        elsewhere_(
            db,
            "INSERT INTO memory_elsewhere (step_id, instruction, space, live, peak) VALUES (?, ?, ?, ?, ?)") {
  }

  void write(const StepTrace& step, bool warmup) {
    for (const RankTrace& rank : step.ranks) {
      const bool is_packed = std::max(rank.spans.size(), rank.memory.size()) > k_most_rows;
      const std::int64_t id = write_step(step, rank, warmup, is_packed);
      if (is_packed) continue;
      for (const Span& span : rank.spans) write_span(id, span);
      for (const MemorySample& sample : rank.memory) write_memory(id, sample);
    }
  }

 private:
  std::int64_t write_step(const StepTrace& step, const RankTrace& rank, bool warmup, bool is_packed) {
    step_.bind(1, run_);
    step_.bind(2, step.step);
    step_.bind(3, rank.rank);
    step_.bind(4, warmup ? 1 : 0);
    step_.bind(5, plans_.find(step.plan_hash)->second);
    bind_quantity(step_, 6, rank.start_offset);
    bind_quantity(step_, 7, rank.duration);
    bind_number(step_, 8, rank.loss);
    bind_number(step_, 9, rank.gradient_norm);
    if (is_packed) {
      const std::string packed = pack_trace(rank);
      step_.bind(10, packed.data(), static_cast<int>(packed.size()));
    } else {
      step_.bind(10);
    }
    step_.exec();
    step_.reset();
    return db_.getLastInsertRowid();
  }

  void write_span(std::int64_t step_id, const Span& span) {
    span_.bind(1, step_id);
    span_.bind(2, static_cast<std::int64_t>(span.instruction.value));
    bind_quantity(span_, 3, span.issue);
    bind_quantity(span_, 4, span.ready);
    bind_quantity(span_, 5, span.start);
    bind_quantity(span_, 6, span.end);
    span_.bind(7, span.skipped ? 1 : 0);
    span_.exec();
    span_.reset();
  }

  void write_memory(std::int64_t step_id, const MemorySample& sample) {
    memory_.bind(1, step_id);
    memory_.bind(2, static_cast<std::int64_t>(sample.instruction.value));
    bind_quantity(memory_, 3, sample.live);
    bind_quantity(memory_, 4, sample.peak);
    int index = 5;
    for (const Bytes bytes : sample.by_class) bind_quantity(memory_, index++, bytes);
    for (const Bytes bytes : sample.by_class_at_peak) bind_quantity(memory_, index++, bytes);
    memory_.exec();
    memory_.reset();
    write_elsewhere(step_id, sample);
  }

  void write_elsewhere(std::int64_t step_id, const MemorySample& sample) {
    for (std::size_t i = 0; i < k_memory_spaces; ++i) {
      if (sample.elsewhere[i] == Bytes{} && sample.peak_elsewhere[i] == Bytes{}) continue;
      elsewhere_.bind(1, step_id);
      elsewhere_.bind(2, static_cast<std::int64_t>(sample.instruction.value));
      elsewhere_.bind(3, std::string(to_string(static_cast<MemorySpace>(i))));
      bind_quantity(elsewhere_, 4, sample.elsewhere[i]);
      bind_quantity(elsewhere_, 5, sample.peak_elsewhere[i]);
      elsewhere_.exec();
      elsewhere_.reset();
    }
  }

  SQLite::Database& db_;
  std::int64_t run_;
  const PlanIds& plans_;
  SQLite::Statement step_, span_, memory_, elsewhere_;
};

// Losses and norms may have different lengths: norms exist only with clipping.
void write_training(SQLite::Database& db, std::int64_t run, const RunTrace& trace) {
  SQLite::Statement insert(db,
                           "INSERT INTO training (run_id, step, loss, gradient_norm) VALUES (?, ?, ?, ?)");
  const auto at = [](const std::vector<double>& values, std::size_t i) {
    return i < values.size() ? std::optional<double>(values[i]) : std::nullopt;
  };
  insert.bind(1, run);
  for (std::size_t i = 0; i < std::max(trace.losses.size(), trace.gradient_norms.size()); ++i) {
    insert.bind(2, static_cast<std::int64_t>(i));
    bind_number(insert, 3, at(trace.losses, i));
    bind_number(insert, 4, at(trace.gradient_norms, i));
    insert.exec();
    insert.reset();
  }
}

}  // namespace

std::string memory_columns() {
  std::string columns = "live, peak";
  for (const char* prefix : {"live", "peak"}) {
    for (std::size_t i = 0; i < k_buffer_classes; ++i) {
      columns += fmt::format(", {}_{}", prefix, to_string(static_cast<BufferClass>(i)));
    }
  }
  return columns;
}

void write_trace(SQLite::Database& db, std::int64_t run, const RunTrace& trace, const PlanIds& plans) {
  TraceWriter writer(db, run, plans);
  for (const StepTrace& step : trace.warmup) writer.write(step, true);
  for (const StepTrace& step : trace.steps) writer.write(step, false);
  write_training(db, run, trace);
}

}  // namespace shardlab
