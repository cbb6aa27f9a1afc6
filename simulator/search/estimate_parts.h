// Estimates of all combinations of a space from facts of parts of their settings: those of the cluster and of
// `parallel` on one side, those of the model and its training on the other. Each part is read once, a
// combination is arithmetic.
//
// Immutable after its construction, so threads may share it.
#pragma once

#include <optional>
#include <vector>

#include "engine/hardware/device.h"
#include "simulator/calibrate/calibration.h"
#include "simulator/search/candidate.h"
#include "simulator/search/estimate.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/search_space.h"

namespace shardlab {

class EstimateParts {
 public:
  EstimateParts(const SearchSpace& space, Evaluator& evaluator, int threads);

  // Bounds of 0 where the scenario refuses a part of the settings or the whole.
  LowerBounds bounds_of(const Configuration& configuration) const;

 private:
  struct MeshPart {
    MeshFacts facts;
    std::size_t device = 0;  // of devices_
  };
  struct DevicePart {
    Device device;
    std::optional<Calibration> calibration;
    std::vector<std::uint64_t> meshes;  // combinations of mesh_ that have it, the first few
  };

  void read_meshes(int threads);
  void read_models(int threads);
  std::vector<std::string> settings_at(std::uint64_t mesh, std::uint64_t model) const;

  const SearchSpace& space_;
  Evaluator& evaluator_;
  std::vector<std::size_t> standard_;
  KnobSubset mesh_, model_;
  std::vector<std::optional<MeshPart>> meshes_;    // by number of mesh_
  std::vector<DevicePart> devices_;                // of different kinds
  std::vector<std::optional<ModelFacts>> models_;  // by device, then by number of model_
};

}  // namespace shardlab
