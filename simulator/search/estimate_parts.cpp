#include "simulator/search/estimate_parts.h"

#include <algorithm>

#include "engine/base/in_parallel.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab {
namespace {

constexpr std::size_t k_tried = 16;

bool is_of_mesh(const std::string& setting) {
  return sets({setting}, "cluster") || sets({setting}, "parallel");
}

// What facts of a model do not look at.
bool is_of_model(const std::string& setting) {
  static constexpr std::string_view k_others[] = {"cluster",
                                                  "parallel",
                                                  "train.accumulation",
                                                  "train.seed",
                                                  "train.learning_rate",
                                                  "train.optimizer_implementation",
                                                  "train.clip_norm",
                                                  "measure",
                                                  "launch"};
  return std::none_of(std::begin(k_others), std::end(k_others),
                      [&](std::string_view section) { return sets({setting}, section); });
}

// Knobs of one of whose settings the question is answered with yes.
template <typename Asked>
KnobSubset knobs_with(const std::vector<Knob>& knobs, Asked&& asked) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const auto& choices = knobs[i].choices;
    if (std::any_of(choices.begin(), choices.end(), [&](const Choice& choice) {
          return std::any_of(choice.settings.begin(), choice.settings.end(), asked);
        }))
      found.push_back(i);
  }
  return {knobs, std::move(found)};
}

bool same_kind(const Device& a, const Device& b) {
  return a.name == b.name && a.kind == b.kind && a.threads == b.threads &&
         (a.kind == DeviceKind::gpu || a.ranks == b.ranks);
}

std::string id_of(const std::optional<Calibration>& calibration) {
  return calibration ? calibration->id : std::string();
}

const Calibration* if_any(const std::optional<Calibration>& calibration) {
  return calibration ? &*calibration : nullptr;
}

}  // namespace

EstimateParts::EstimateParts(const SearchSpace& space, Evaluator& evaluator, int threads)
    : space_(space),
      evaluator_(evaluator),
      standard_(standard_choices(space.question().knobs)),
      mesh_(knobs_with(space.question().knobs, is_of_mesh)),
      model_(knobs_with(space.question().knobs, is_of_model)) {
  read_meshes(threads);
  read_models(threads);
}

// Two micro-batches, so that settings that need several are read; how many there are is said by each
// configuration.
std::vector<std::string> EstimateParts::settings_at(std::uint64_t mesh, std::uint64_t model) const {
  std::vector<std::size_t> choices = standard_;
  model_.set(model, choices);
  mesh_.set(mesh, choices);
  std::vector<std::string> settings = space_.settings_of(choices);
  if (space_.question().global_batch) settings.emplace_back("train.accumulation=2");
  return settings;
}

void EstimateParts::read_meshes(int threads) {
  meshes_.resize(mesh_.size());
  std::vector<std::optional<DevicePart>> devices(meshes_.size());
  const std::uint64_t standard = model_.number_of(standard_);
  in_parallel(meshes_.size(), threads, [&](std::size_t i) {
    const Result<Scenario> scenario = evaluator_.scenario_with(settings_at(i, standard));
    if (!scenario) return;
    const Result<Device> device = resolve_device(*scenario->cluster);
    const auto calibration = evaluator_.calibration_of(*scenario);
    if (!device || !calibration) return;
    meshes_[i] = MeshPart{mesh_facts(*scenario, *device, if_any(*calibration)), 0};
    devices[i] = DevicePart{*device, *calibration, {i}};
  });
  for (std::size_t i = 0; i < meshes_.size(); ++i) {
    if (!meshes_[i]) continue;
    const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const DevicePart& part) {
      return same_kind(part.device, devices[i]->device) &&
             id_of(part.calibration) == id_of(devices[i]->calibration);
    });
    meshes_[i]->device = static_cast<std::size_t>(known - devices_.begin());
    if (known == devices_.end())
      devices_.push_back(*std::move(devices[i]));
    else if (known->meshes.size() < k_tried)
      known->meshes.push_back(i);
  }
}

void EstimateParts::read_models(int threads) {
  models_.resize(devices_.size() * model_.size());
  in_parallel(models_.size(), threads, [&](std::size_t i) {
    const DevicePart& part = devices_[i / model_.size()];
    // A strategy may refuse what another takes, and both have the same facts.
    for (const std::uint64_t mesh : part.meshes) {
      const Result<Scenario> scenario = evaluator_.scenario_with(settings_at(mesh, i % model_.size()));
      if (!scenario) continue;
      if (auto facts = model_facts(*scenario, part.device, if_any(part.calibration))) models_[i] = *facts;
      return;
    }
  });
}

LowerBounds EstimateParts::bounds_of(const Configuration& configuration) const {
  LowerBounds bounds;
  bounds.gpus = configuration.gpus;
  bounds.micro_batch = configuration.micro_batch;
  const std::optional<MeshPart>& mesh = meshes_[mesh_.number_of(configuration.choices)];
  if (!configuration.divides || !mesh) return bounds;
  const std::optional<ModelFacts>& model =
      models_[mesh->device * model_.size() + model_.number_of(configuration.choices)];
  if (!model) return bounds;
  const Estimate estimated = estimate(*model, mesh->facts, configuration.accumulation);
  bounds.step_ns = estimated.step_ns;
  bounds.memory = estimated.memory;
  bounds.limit = mesh->facts.limit;
  StepTimes steps;
  steps.first_ns = steps.steady_ns = bounds.step_ns;
  steps.tokens = estimated.tokens;
  steps.gpus = configuration.gpus;
  steps.nodes = configuration.nodes;
  steps.watts = configuration.watts;
  bounds.costs = training_costs(space_.question().training, steps, rented(space_.question(), configuration));
  return bounds;
}

}  // namespace shardlab
