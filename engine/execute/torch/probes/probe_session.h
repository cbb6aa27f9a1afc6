// What the probes of one rank share. Private to this folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/execute/torch/probes/run_probes.h"
#include "engine/plan/probed_collective.h"

namespace shardlab {

class ProbeSession {
 public:
  ProbeSession(const ProbePlace& place, EmitMeasurement emit) : place_(place), emit_(std::move(emit)) {}

  Communicator* communicator() const { return place_.data; }
  Communicator* control() const { return place_.control; }
  const ExecutionBackend* backend() const { return place_.backend; }
  c10::Device device() const { return place_.backend ? place_.backend->device() : c10::Device(c10::kCPU); }
  int ranks() const { return place_.control == nullptr ? 1 : place_.control->size(); }
  void barrier() const {
    if (place_.control != nullptr) place_.control->barrier();
  }
  // How long the work takes: on a device between events around it, when the device is through.
  Nanoseconds once(const std::function<void()>& work) const;

  // Calls `work(repeat)` until it has run for about 40 ms, for 3 to 25 samples, after one call that does not
  // count. A sample is one call; on a device the mean of a batch of calls.
  std::vector<std::int64_t> time(const std::function<void(int)>& work) const;
  // Work that peers take part in, which all must do as often: exactly `repeats` samples, after one call that
  // does not count. On a device a sample is the mean of `batch` calls, behind an idle time long enough for
  // the host to issue them all: an event before a collective passes at once on an empty stream, and the
  // host's way to the collective would count as its time.
  std::vector<std::int64_t> time_together(int repeats, int batch, const std::function<void()>& work) const;

  Status emit(std::string probe, ProbeShape shape, std::vector<std::int64_t> samples) const {
    return emit_({std::move(probe), std::move(shape), std::move(samples)});
  }

 private:
  int batch_of(const std::function<void(int)>& work) const;
  Nanoseconds once_behind(Nanoseconds idle, const std::function<void()>& work) const;

  const ProbePlace place_;
  EmitMeasurement emit_;
};

std::int64_t shape_number(const ProbeCase& probe,
                          const char* name);  // throws std::out_of_range when it is missing

// "linear.float32": an operator that can be measured, in a dtype. None for other names.
struct OperatorProbe {
  const OperatorType& type;
  DType dtype;
};
std::optional<OperatorProbe> parse_operator_probe(std::string_view probe);

// What a collective left, which is null on a device, where the stream's end is waited for instead.
void finish(const std::unique_ptr<Pending>& pending);

// Each measures one case. Errors: those of emit(). What libtorch or a peer throws, and a shape that lacks a
// number, leaves as an exception, which run_probes() catches.
Status probe_allocation(const ProbeSession& session, const ProbeCase& probe);
Status probe_operator(const ProbeSession& session, const OperatorProbe& parsed, const ProbeShape& shape);
Status probe_collective(const ProbeSession& session, ProbedCollective collective, const ProbeCase& probe);
Status probe_copy(const ProbeSession& session, const ProbeCase& probe);
Status probe_drive(const ProbeSession& session, const ProbeCase& probe);
Status probe_pairs(const ProbeSession& session, const ProbeCase& probe);
Status probe_contention(const ProbeSession& session, const ProbeCase& probe);

}  // namespace shardlab
