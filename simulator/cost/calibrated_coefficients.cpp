#include <algorithm>
#include <optional>

#include "engine/model/operators/operator_list.h"
#include "simulator/cost/coefficients.h"
#include "simulator/cost/probe_names.h"

namespace shardlab {
namespace {

class Reader {
 public:
  Reader(const Calibration& calibration, CostCoefficients& coefficients)
      : calibration_(calibration), coefficients_(coefficients) {}

  void read_all() {
    const bool one_rate = coefficients_.float16.matmul[0].rate == coefficients_.bfloat16.matmul[0].rate;
    read_dtype(DType::float32, coefficients_.float32);
    read_dtype(DType::bfloat16, coefficients_.bfloat16);
    read_traffic();
    for (const InstructionKind kind :
         {InstructionKind::AllGather, InstructionKind::ReduceScatter, InstructionKind::AllReduce}) {
      read_collective(kind);
    }
    set("host.instruction", coefficients_.host.instruction_ns);
    set("host.allocation", coefficients_.allocation_ns);
    set("host.collective", coefficients_.host.collective_ns);
    set("host.launch", coefficients_.host.launch_ns);
    set("host.launch", coefficients_.host.backward_launch_ns);
    set("host.launch", coefficients_.host.reduction_launch_ns);
    read_drive();
    read_contention();
    set("contention.collective_beside_compute", coefficients_.contention.collective_beside_compute);
    for (const ProbeResult& probe : calibration_.probes) read_shape(probe);
    if (one_rate) coefficients_.float16 = coefficients_.bfloat16;
  }

 private:
  std::optional<double> value(const std::string& name) const {
    const auto found = calibration_.coefficients.find(name);
    return found == calibration_.coefficients.end() ? std::nullopt : std::optional(found->second.value);
  }
  void set(const std::string& name, double& target) const { target = value(name).value_or(target); }

  void read_dtype(DType dtype, DtypeCoefficients& target) const {
    for (std::size_t use = 0; use < k_matmul_uses; ++use) {
      const std::string probe = matmul_probe(static_cast<MatmulUse>(use), dtype);
      MatmulCoefficients& matmul = target.matmul[use];
      if (value(probe + ".rate")) matmul.waves = {};  // measured shapes have them
      set(probe + ".rate", matmul.rate.value);
      set(probe + ".k_half", matmul.k_half);
      set(probe + ".bandwidth", matmul.bandwidth.value);
      set(probe + ".overhead", matmul.overhead_ns);
    }
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const std::string probe = traffic_name(k_attention.name, direction, dtype);
      AttentionCoefficients& attention = target.attention[static_cast<std::size_t>(direction)];
      if (value(probe + ".rate")) attention.narrow = 1;  // measured shapes have it
      set(probe + ".rate", attention.rate.value);
      set(probe + ".sequence_half", attention.sequence_half);
      set(probe + ".overhead", attention.overhead_ns);
    }
  }

  // Whatever has a bandwidth and is neither a product nor a collective is traffic.
  void read_traffic() {
    static constexpr std::string_view suffix = ".bandwidth";
    for (const auto& [name, coefficient] : calibration_.coefficients) {
      if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
      const std::string probe = name.substr(0, name.size() - suffix.size());
      if (is_matmul_probe(probe) || collective_of_probe(probe)) continue;
      TrafficCoefficients& traffic = coefficients_.traffic[probe];
      traffic.bandwidth = {coefficient.value};
      set(probe + ".overhead", traffic.overhead_ns);
    }
  }

  // One latency for both directions, the longer.
  void read_drive() const {
    DriveCoefficients& drive = coefficients_.drive;
    set("drive.read.bandwidth", drive.read.value);
    set("drive.write.bandwidth", drive.write.value);
    const auto read = value("drive.read.overhead"), written = value("drive.write.overhead");
    if (read || written) drive.transfer_ns = std::max(read.value_or(0), written.value_or(0));
  }

  void read_contention() {
    const auto beside = value("contention.compute_beside_collective");
    if (!beside) return;
    if (calibration_.machine.gpu.empty()) {
      coefficients_.contention.compute_beside_collective = *beside;
    } else {
      coefficients_.contention.lost_to_channels = 1 - *beside;
    }
  }

  void read_collective(InstructionKind kind) {
    const std::string probe = collective_probe(kind);
    const auto bandwidth = value(probe + ".bandwidth");
    if (!bandwidth) return;
    CollectiveTerms& terms = coefficients_.collectives[kind];
    terms.bandwidth = {*bandwidth};
    set(probe + ".latency", terms.latency_ns);
    set(probe + ".gamma", terms.ns_per_root_byte);
  }

  void read_shape(const ProbeResult& probe) {
    if (probe.measured_ns <= 0 || probe.fitted_ns <= 0) return;
    const double ratio = probe.measured_ns / probe.fitted_ns;
    if (const auto matmul = matmul_of_probe(probe.probe)) {
      DtypeCoefficients& target =
          matmul->dtype == DType::float32 ? coefficients_.float32 : coefficients_.bfloat16;
      target.matmul[static_cast<std::size_t>(matmul->use)].measured.add(
          coordinates_of(matmul_shape(probe.shape, matmul->dtype)), ratio);
    } else if (const auto attention = attention_of_probe(probe.probe)) {
      DtypeCoefficients& target =
          attention->dtype == DType::float32 ? coefficients_.float32 : coefficients_.bfloat16;
      target.attention[static_cast<std::size_t>(attention->direction)].measured.add(
          coordinates_of(attention_work(probe.shape, attention->direction)), ratio);
    } else if (const auto kind = collective_of_probe(probe.probe)) {
      const auto found = coefficients_.collectives.find(*kind);
      if (found != coefficients_.collectives.end()) {
        found->second.measured.add(coordinates_of(collective_work(*kind, probe.shape)), ratio);
      }
    } else if (const auto found = coefficients_.traffic.find(probe.probe);
               found != coefficients_.traffic.end()) {
      found->second.measured.add(coordinates_of(traffic_of_shape(probe.shape)), ratio);
    }
  }

  const Calibration& calibration_;
  CostCoefficients& coefficients_;
};

}  // namespace

void apply_calibration(const Calibration& calibration, CostCoefficients& coefficients) {
  Reader(calibration, coefficients).read_all();
}

}  // namespace shardlab
