#include "simulator/calibrate/fit_probe.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulator/calibrate/least_squares.h"
#include "simulator/cost/probe_names.h"

namespace shardlab {
namespace {

// Fits the probes of one name, writes their coefficients and fitted times.
class Fitter {
 public:
  Fitter(Calibration& calibration, std::string probe, std::span<ProbeResult> results)
      : calibration_(calibration), probe_(std::move(probe)), results_(results) {}

  void fit_coefficients() {
    if (probe_.starts_with("contention.") || probe_.starts_with("host.")) {
      for (ProbeResult& result : results_) result.fitted_ns = result.measured_ns;
    } else if (const auto matmul = matmul_of_probe(probe_)) {
      fit_matmul(*matmul);
    } else if (const auto attention = attention_of_probe(probe_)) {
      fit_attention(*attention);
    } else if (const auto kind = collective_of_probe(probe_)) {
      fit_collective(*kind);
    } else {
      fit_traffic();
    }
  }

 private:
  void set(const std::string& name, double value, const char* unit) {
    calibration_.coefficients[probe_ + name] = {value, unit};
  }

  template <typename Terms>
  std::array<double, k_fit_terms> fit(std::size_t count, Terms terms_of) const {
    std::vector<FitRow> rows;
    for (const ProbeResult& result : results_) rows.push_back({terms_of(result), result.measured_ns});
    return fit_times(rows, count);
  }

  // Whether more than one size was measured, so that what it costs whatever its size can be told from what
  // it costs by size. Of a single size all its time goes by size: as a constant it would be as long for a
  // hundred times the bytes.
  template <typename SizeOf>
  bool sizes_differ(SizeOf size_of) const {
    return std::any_of(results_.begin(), results_.end(),
                       [&](const ProbeResult& r) { return size_of(r) != size_of(results_.front()); });
  }

  // Times of a constant and of something that goes by size; only the second of a single size.
  std::array<double, 2> fit_by_size(std::array<double, 2> (*terms_of)(const ProbeResult&)) const {
    if (sizes_differ([&](const ProbeResult& r) { return terms_of(r)[1]; })) {
      const auto c = fit(2, [&](const ProbeResult& r) {
        return std::array<double, 3>{terms_of(r)[0], terms_of(r)[1], 0};
      });
      return {c[0], c[1]};
    }
    const auto c = fit(1, [&](const ProbeResult& r) { return std::array<double, 3>{terms_of(r)[1], 0, 0}; });
    return {0, c[0]};
  }

  // A rate from ns per unit; a fit that found no cost at all leaves a rate that adds nothing.
  static double rate(double ns_per_unit) { return ns_per_unit > 0 ? 1e9 / ns_per_unit : 1e18; }

  void fit_matmul(const MatmulProbe& probe) {
    const auto flops = [&](const ProbeResult& r) {
      const MatmulShape s = matmul_shape(r.shape, probe.dtype);
      return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    };
    const auto c = fit(3, [&](const ProbeResult& r) {
      return std::array<double, 3>{1, flops(r),
                                   flops(r) / static_cast<double>(matmul_shape(r.shape, probe.dtype).k)};
    });
    MatmulCoefficients fitted;
    fitted.overhead_ns = c[0];
    fitted.rate = {rate(c[1])};
    fitted.k_half = c[1] > 0 ? c[2] / c[1] : 0;
    fitted.bandwidth = {
        best_traffic([&](const ProbeResult& r) { return matmul_shape(r.shape, probe.dtype).bytes; })};
    set(".overhead", fitted.overhead_ns, "ns");
    set(".rate", fitted.rate.value, "FLOP/s");
    set(".k_half", fitted.k_half, "elements");
    set(".bandwidth", fitted.bandwidth.value, "B/s");
    for (ProbeResult& r : results_)
      r.fitted_ns = matmul_formula_ns(matmul_shape(r.shape, probe.dtype), fitted);
  }

  // ns whatever its size, per FLOP and, times tokens, per FLOP.
  std::array<double, 3> fit_attention_terms(const AttentionProbe& probe) const {
    const auto flops_of = [&](const ProbeResult& r) {
      return static_cast<double>(attention_work(r.shape, probe.direction).flops.value);
    };
    if (!sizes_differ(flops_of)) {
      const auto c = fit(1, [&](const ProbeResult& r) { return std::array<double, 3>{flops_of(r), 0, 0}; });
      return {0, c[0], 0};
    }
    return fit(3, [&](const ProbeResult& r) {
      const std::int64_t sequence = attention_work(r.shape, probe.direction).sequence;
      return std::array<double, 3>{1, flops_of(r),
                                   flops_of(r) / static_cast<double>(std::max<std::int64_t>(sequence, 1))};
    });
  }

  void fit_attention(const AttentionProbe& probe) {
    const auto c = fit_attention_terms(probe);
    AttentionCoefficients fitted;
    fitted.overhead_ns = c[0];
    fitted.rate = {rate(c[1])};
    fitted.sequence_half = c[1] > 0 ? c[2] / c[1] : 0;
    set(".overhead", fitted.overhead_ns, "ns");
    set(".rate", fitted.rate.value, "FLOP/s");
    set(".sequence_half", fitted.sequence_half, "tokens");
    for (ProbeResult& r : results_)
      r.fitted_ns = attention_formula_ns(attention_work(r.shape, probe.direction), fitted);
  }

  void fit_collective(InstructionKind kind) {
    const auto c = fit(3, [&](const ProbeResult& r) {
      const CollectiveWork work = collective_work(kind, r.shape);
      const auto bytes = static_cast<double>(work.bytes.value);
      return std::array<double, 3>{1, bytes * bus_factor(kind, work.ranks), std::sqrt(bytes)};
    });
    CollectiveTerms fitted;
    fitted.latency_ns = c[0];
    fitted.bandwidth = {rate(c[1])};
    fitted.ns_per_root_byte = c[2];
    set(".latency", fitted.latency_ns, "ns");
    set(".bandwidth", fitted.bandwidth.value, "B/s");
    set(".gamma", fitted.ns_per_root_byte, "ns/sqrt(B)");
    for (ProbeResult& r : results_)
      r.fitted_ns = collective_formula_ns(collective_work(kind, r.shape), fitted);
  }

  void fit_traffic() {
    const auto c = fit_by_size([](const ProbeResult& r) {
      const Traffic traffic = traffic_of_shape(r.shape);
      return std::array<double, 2>{static_cast<double>(traffic.pieces),
                                   static_cast<double>(traffic.bytes.value)};
    });
    TrafficCoefficients fitted;
    fitted.overhead_ns = c[0];
    fitted.bandwidth = {rate(c[1])};
    set(".overhead", fitted.overhead_ns, "ns");
    set(".bandwidth", fitted.bandwidth.value, "B/s");
    for (ProbeResult& r : results_) r.fitted_ns = traffic_formula_ns(traffic_of_shape(r.shape), fitted);
  }

  // The fastest that any shape moved its least traffic: memory is at least this fast.
  template <typename BytesOf>
  double best_traffic(BytesOf bytes_of) const {
    double best = 1;
    for (const ProbeResult& r : results_)
      best = std::max(best, static_cast<double>(bytes_of(r).value) / r.measured_ns * 1e9);
    return best;
  }

  Calibration& calibration_;
  std::string probe_;
  std::span<ProbeResult> results_;
};

}  // namespace

void fit_probe(Calibration& calibration, std::span<ProbeResult> results) {
  if (!results.empty()) Fitter(calibration, results.front().probe, results).fit_coefficients();
}

}  // namespace shardlab
