#include "engine/execute/torch/probes/run_probes.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <exception>

#include "engine/execute/torch/probes/probe_session.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_time_budget_ns = 40'000'000;
constexpr int k_fewest = 3;
constexpr int k_most = 25;
// On a device: what is issued at once, so that kernels follow each other as in a step and the host's latency
// counts once.
constexpr std::int64_t k_batch_ns = 2'000'000;
constexpr int k_longest_batch = 32;
// While a device does nothing the host issues what is timed together.
constexpr Nanoseconds k_shortest_idle{500'000}, k_longest_idle{20'000'000};

// Rank 0's word on whether there is time for one more case.
bool agree_to_go_on(const ProbeSession& session, bool mine) {
  if (session.control() == nullptr) return mine;
  const at::Tensor word = at::empty({1}).fill_(mine ? 1 : 0);
  session.control()->broadcast(word, 0)->wait();
  return *word.const_data_ptr<float>() > 0;
}

Status run_case(const ProbeSession& session, const ProbeCase& probe) {
  if (const auto parsed = parse_operator_probe(probe.probe))
    return probe_operator(session, *parsed, probe.shape);
  if (const auto collective = parse_word<ProbedCollective>(probe.probe))
    return session.ranks() > 1 ? probe_collective(session, *collective, probe) : Status{};
  if (probe.probe.starts_with("copy")) return probe_copy(session, probe);
  if (probe.probe == "pairs") return session.ranks() > 1 ? probe_pairs(session, probe) : Status{};
  if (probe.probe.starts_with(k_drive_probe)) return probe_drive(session, probe);
  if (probe.probe == "allocation") return probe_allocation(session, probe);
  if (probe.probe == "contention") return session.ranks() > 1 ? probe_contention(session, probe) : Status{};
  return bad_input("probe", "unknown probe " + probe.probe);
}

}  // namespace

void finish(const std::unique_ptr<Pending>& pending) {
  if (pending) pending->wait();
}

Nanoseconds ProbeSession::once(const std::function<void()>& work) const {
  if (place_.backend == nullptr) {
    const Nanoseconds start = monotonic_now();
    work();
    return monotonic_now() - start;
  }
  StreamDevice& streams = place_.backend->streams();
  const QueueIndex queue = streams.queue("compute");
  streams.use(queue);
  const EventHandle began = streams.record(queue);
  work();
  const EventHandle ended = streams.record(queue);
  streams.block(ended);
  return streams.between(began, ended);
}

int ProbeSession::batch_of(const std::function<void(int)>& work) const {
  if (place_.backend == nullptr) return 1;
  const std::int64_t one = std::max<std::int64_t>(once([&] { work(0); }).value, 1);
  return static_cast<int>(std::clamp<std::int64_t>(k_batch_ns / one, 1, k_longest_batch));
}

std::vector<std::int64_t> ProbeSession::time(const std::function<void(int)>& work) const {
  work(0);
  const int batch = batch_of(work);
  std::vector<std::int64_t> samples;
  std::int64_t spent = 0;
  int repeat = 0;
  while (samples.size() < k_fewest || (spent < k_time_budget_ns && samples.size() < k_most)) {
    const std::int64_t taken = once([&] {
                                 for (int i = 0; i < batch; ++i) work(++repeat);
                               }).value;
    samples.push_back(taken / batch);
    spent += taken;
  }
  return samples;
}

std::vector<std::int64_t> ProbeSession::time_together(int repeats, int batch,
                                                      const std::function<void()>& work) const {
  if (place_.backend == nullptr) {
    batch = 1;
  } else {
    StreamDevice& streams = place_.backend->streams();
    streams.use(streams.queue("compute"));
  }
  const auto all = [&] {
    for (int i = 0; i < batch; ++i) work();
  };
  const Nanoseconds began = monotonic_now();
  all();
  // Twice what the host took to issue them now, when it met NCCL for the first time.
  const Nanoseconds idle = std::clamp((monotonic_now() - began) * 2, k_shortest_idle, k_longest_idle);
  if (place_.backend != nullptr) place_.backend->streams().drain();
  std::vector<std::int64_t> samples;
  for (int i = 0; i < repeats; ++i) {
    samples.push_back((place_.backend == nullptr ? once(all) : once_behind(idle, all)).value / batch);
  }
  return samples;
}

// A queue that does its work when it is issued has no host to wait for.
Nanoseconds ProbeSession::once_behind(Nanoseconds idle, const std::function<void()>& work) const {
  StreamDevice& streams = place_.backend->streams();
  const QueueIndex queue = streams.queue("compute");
  streams.use(queue);
  streams.delay(queue, idle);
  return once(work);
}

std::int64_t shape_number(const ProbeCase& probe, const char* name) {
  return probe.shape.at(name);
}

Status run_probes(const ProbePlace& place, const ProbeList& list, const EmitMeasurement& emit) {
  const ProbeSession session(place, emit);
  const Nanoseconds end = monotonic_now() + milliseconds(list.budget_ms);
  try {
    const c10::InferenceMode no_autograd;
    for (const ProbeCase& probe : list.cases) {
      if (!agree_to_go_on(session, monotonic_now() < end)) break;
      SHARDLAB_CHECK_OK(run_case(session, probe));
    }
  } catch (const std::out_of_range&) {
    return bad_input("probe", "a shape lacks one of its numbers");
  } catch (const std::exception& error) {
    return run_failed("probe", first_line(error.what()));
  }
  return {};
}

}  // namespace shardlab
