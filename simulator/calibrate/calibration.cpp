#include "simulator/calibrate/calibration.h"

#include <sched.h>

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/hash.h"
#include "engine/base/json_depth.h"
#include "engine/base/json_number.h"
#include "engine/plan/probed_collective.h"

namespace shardlab {
namespace {

using Json = nlohmann::json;

constexpr int k_format = 1;

Json machine_json(const MachineFingerprint& machine) {
  Json json = {{"processor", machine.processor},
               {"cores", machine.cores},
               {"ranks", machine.ranks},
               {"threads_per_rank", machine.threads_per_rank},
               {"torch_version", machine.torch_version}};
  if (!machine.gpu.empty()) json["gpu"] = machine.gpu;
  if (machine.nodes > 1) json["nodes"] = machine.nodes;
  return json;
}

Json body_json(const Calibration& calibration) {
  Json json = {{"format", k_format},
               {"machine", machine_json(calibration.machine)},
               {"when", calibration.when},
               {"duration_ns", calibration.duration_ns},
               {"versions", calibration.versions},
               {"coefficients", Json::object()},
               {"probes", Json::array()}};
  for (const auto& [name, coefficient] : calibration.coefficients) {
    json["coefficients"][name] = {{"value", coefficient.value}, {"unit", coefficient.unit}};
  }
  for (const ProbeResult& probe : calibration.probes) {
    json["probes"].push_back({{"probe", probe.probe},
                              {"shape", probe.shape},
                              {"measured_ns", probe.measured_ns},
                              {"fitted_ns", probe.fitted_ns},
                              {"error", probe.error()},
                              {"samples", probe.samples}});
  }
  return json;
}

Calibration read_body(const Json& json) {
  Calibration calibration;
  const Json& machine = json.at("machine");
  calibration.machine = {machine.at("processor"),
                         json_number<int>(machine.at("cores")),
                         json_number<int>(machine.at("ranks")),
                         json_number<int>(machine.at("threads_per_rank")),
                         machine.at("torch_version"),
                         machine.value("gpu", std::string()),
                         json_number<int>(machine.value("nodes", Json(1)))};
  calibration.when = json.at("when");
  calibration.duration_ns = json_number<std::int64_t>(json.at("duration_ns"));
  calibration.versions = json.at("versions");
  for (const auto& [name, coefficient] : json.at("coefficients").items()) {
    calibration.coefficients[name] = {coefficient.at("value"), coefficient.at("unit")};
  }
  for (const Json& probe : json.at("probes")) {
    calibration.probes.push_back({probe.at("probe"), json_named_numbers<std::int64_t>(probe.at("shape")),
                                  json_numbers<std::int64_t>(probe.at("samples")), probe.at("measured_ns"),
                                  probe.at("fitted_ns")});
  }
  return calibration;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    return start == std::string::npos ? "unknown" : line.substr(start);
  }
  return "unknown";
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

std::string calibration_id(const Calibration& calibration) {
  return hash_hex(body_json(calibration).dump()).substr(0, 12);
}

std::string to_json(const Calibration& calibration) {
  Json json = body_json(calibration);
  json["id"] = calibration.id;
  return json.dump(1);
}

Result<Calibration> calibration_from_json(std::string_view text, std::string_view name) {
  if (is_json_too_deep(text))
    return bad_input(in_file(std::string(name)), "not a calibration: nested too deeply");
  if (is_json_too_large(text))
    return bad_input(in_file(std::string(name)), "not a calibration: it has too many values");
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != k_format) {
      return bad_input(in_file(std::string(name)),
                       fmt::format("a calibration of another format ({})", json.at("format").dump()),
                       "run `shardlab calibrate` again");
    }
    Calibration calibration = read_body(json);
    calibration.id = json.at("id");
    return calibration;
  } catch (const Json::exception& error) {
    return bad_input(in_file(std::string(name)), fmt::format("not a calibration: {}", error.what()),
                     "run `shardlab calibrate` again");
  }
}

std::string calibration_mismatch(const MachineFingerprint& measured, const MachineFingerprint& wanted) {
  const auto differs = [](const char* what, const auto& a, const auto& b) {
    return fmt::format("it was measured with {} {}, not {}", what, a, b);
  };
  const auto named = [](const std::string& gpu) { return gpu.empty() ? "(none)" : gpu; };
  if (measured.gpu != wanted.gpu) return differs("GPU", named(measured.gpu), named(wanted.gpu));
  if (!measured.gpu.empty()) return {};
  if (measured.processor != wanted.processor)
    return differs("processor", measured.processor, wanted.processor);
  if (measured.cores != wanted.cores) return differs("cores", measured.cores, wanted.cores);
  if (measured.ranks != wanted.ranks) return differs("ranks", measured.ranks, wanted.ranks);
  if (measured.threads_per_rank != wanted.threads_per_rank) {
    return differs("threads per rank", measured.threads_per_rank, wanted.threads_per_rank);
  }
  if (measured.torch_version != wanted.torch_version)
    return differs("torch", measured.torch_version, wanted.torch_version);
  return {};
}

Calibration without_collectives(Calibration calibration) {
  const auto is_collective = [](std::string_view name) {
    return parse_word<ProbedCollective>(name.substr(0, name.find('.'))) || name.starts_with("contention.");
  };
  std::erase_if(calibration.coefficients, [&](const auto& named) { return is_collective(named.first); });
  std::erase_if(calibration.probes, [&](const ProbeResult& result) { return is_collective(result.probe); });
  return calibration;
}

MachineFingerprint this_machine(int ranks, int threads_per_rank, std::string torch_version) {
  return {processor_name(), usable_cores(), ranks, threads_per_rank, std::move(torch_version), {}, 1};
}

}  // namespace shardlab
