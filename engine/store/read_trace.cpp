#include "engine/store/read_trace.h"

#include "engine/store/packed.h"
#include "engine/store/sql_values.h"
#include "engine/store/write_trace.h"

namespace shardlab {
namespace {

InstructionId instruction_of(const SQLite::Column& column) {
  return {static_cast<std::uint32_t>(column.getInt64())};
}

std::vector<Span> read_spans(SQLite::Statement& query, std::int64_t step_id) {
  std::vector<Span> spans;
  query.bind(1, step_id);
  while (query.executeStep()) {
    Span span;
    span.instruction = instruction_of(query.getColumn(0));
    span.issue = {query.getColumn(1).getInt64()};
    span.ready = {query.getColumn(2).getInt64()};
    span.start = {query.getColumn(3).getInt64()};
    span.end = {query.getColumn(4).getInt64()};
    span.skipped = query.getColumn(5).getInt() != 0;
    spans.push_back(span);
  }
  query.reset();
  return spans;
}

std::vector<MemorySample> read_memory(SQLite::Statement& query, std::int64_t step_id) {
  std::vector<MemorySample> samples;
  query.bind(1, step_id);
  while (query.executeStep()) {
    MemorySample sample;
    sample.instruction = instruction_of(query.getColumn(0));
    sample.live = {query.getColumn(1).getInt64()};
    sample.peak = {query.getColumn(2).getInt64()};
    int index = 3;
    for (Bytes& bytes : sample.by_class) bytes = {query.getColumn(index++).getInt64()};
    for (Bytes& bytes : sample.by_class_at_peak) bytes = {query.getColumn(index++).getInt64()};
    samples.push_back(sample);
  }
  query.reset();
  return samples;
}

// In the order of the samples.
void read_elsewhere(SQLite::Statement& query, std::int64_t step_id, std::vector<MemorySample>& samples) {
  query.bind(1, step_id);
  auto sample = samples.begin();
  while (query.executeStep()) {
    const InstructionId instruction = instruction_of(query.getColumn(0));
    while (sample != samples.end() && sample->instruction < instruction) ++sample;
    const auto space = parse_word<MemorySpace>(query.getColumn(1).getString());
    if (!space || sample == samples.end() || sample->instruction != instruction)
      throw SQLite::Exception("memory elsewhere belongs to no instruction", SQLITE_CORRUPT);
    const auto index = static_cast<std::size_t>(*space);
    sample->elsewhere[index] = {query.getColumn(2).getInt64()};
    sample->peak_elsewhere[index] = {query.getColumn(3).getInt64()};
  }
  query.reset();
}

}  // namespace

std::vector<StepHeader> read_step_headers(SQLite::Database& db, std::int64_t run) {
  SQLite::Statement query(
      db,
      "SELECT step, rank, warmup, plans.hash FROM steps JOIN plans ON plans.id = plan_id WHERE run_id = ? "
      "ORDER BY step, rank");
  query.bind(1, run);
  std::vector<StepHeader> headers;
  while (query.executeStep()) {
    const std::int64_t step = query.getColumn(0).getInt64();
    if (headers.empty() || headers.back().step != step) {
      headers.push_back({step, query.getColumn(2).getInt() != 0, query.getColumn(3).getString(), {}});
    }
    headers.back().ranks.push_back(query.getColumn(1).getInt());
  }
  return headers;
}

StepTrace read_step(SQLite::Database& db, std::int64_t run, std::int64_t step) {
  SQLite::Statement query(
      db,
      "SELECT steps.id, rank, plans.hash, start_offset_ns, duration_ns, loss, gradient_norm, packed "
      "FROM steps "
      "JOIN plans ON plans.id = plan_id WHERE run_id = ? AND step = ? ORDER BY rank");
  SQLite::Statement spans(
      db,
      "SELECT instruction, issue_ns, ready_ns, start_ns, end_ns, skipped FROM spans WHERE step_id = ? "
      "ORDER BY instruction");
  SQLite::Statement memory(
      db, "SELECT instruction, " + memory_columns() + " FROM memory WHERE step_id = ? ORDER BY instruction");
  SQLite::Statement elsewhere(db,
                              "SELECT instruction, space, live, peak FROM memory_elsewhere WHERE step_id = ? "
                              "ORDER BY instruction");
  query.bind(1, run);
  query.bind(2, step);
  StepTrace trace;
  trace.step = step;
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    trace.plan_hash = query.getColumn(2).getString();
    RankTrace& rank = trace.ranks.emplace_back();
    rank.rank = query.getColumn(1).getInt();
    rank.start_offset = {query.getColumn(3).getInt64()};
    rank.duration = {query.getColumn(4).getInt64()};
    rank.loss = read_number(query.getColumn(5));
    rank.gradient_norm = read_number(query.getColumn(6));
    if (const SQLite::Column packed = query.getColumn(7); !packed.isNull()) {
      unpack_trace(packed.getString(), rank);
      continue;
    }
    rank.spans = read_spans(spans, id);
    rank.memory = read_memory(memory, id);
    read_elsewhere(elsewhere, id, rank.memory);
  }
  return trace;
}

RunTrace read_steps(SQLite::Database& db, std::int64_t run) {
  RunTrace trace;
  for (const StepHeader& header : read_step_headers(db, run)) {
    (header.warmup ? trace.warmup : trace.steps).push_back(read_step(db, run, header.step));
  }
  read_training(db, run, trace.losses, trace.gradient_norms);
  return trace;
}

void read_training(SQLite::Database& db, std::int64_t run, std::vector<double>& losses,
                   std::vector<double>& norms) {
  SQLite::Statement query(db, "SELECT loss, gradient_norm FROM training WHERE run_id = ? ORDER BY step");
  query.bind(1, run);
  while (query.executeStep()) {
    if (const auto loss = read_number(query.getColumn(0))) losses.push_back(*loss);
    if (const auto norm = read_number(query.getColumn(1))) norms.push_back(*norm);
  }
}

}  // namespace shardlab
