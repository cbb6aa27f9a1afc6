#include "engine/formats/script/script_places.h"

#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

// The program says all of these, whatever the scenario.
constexpr ToolKey place(std::string_view part, std::string_view setting, std::string_view otherwise) {
  return {part, setting, [](const ExportSubject&) -> ToolValue { return true; }, otherwise};
}

constexpr ToolKey k_places[] = {
    place("MODEL", "model.config", "always there"),
    place("MODEL", "model.overrides", "always there"),
    place("WEIGHTS", "model.weights", "random weights of transformers' own"),
    place("SEQUENCE_LENGTH", "model.sequence_length", "always there"),
    place("FROZEN", "model.frozen", "every parameter is trained"),
    place("LoraConfig()", "model.lora", "no adapters"),
    place("make_model()", "model.dtype", "always there"),
    place("next_token_loss()", "model.loss.place", "always there"),
    place("MICRO_BATCH", "train.micro_batch", "always there"),
    place("ACCUMULATION", "train.accumulation", "always there"),
    place("RANKS", "cluster.ranks", "always there"),
    place("DEVICE", "cluster.device", "always there"),
    place("WARMUP, STEPS", "measure", "always there"),
    place("SEED", "train.seed", "always there"),
    place("DATA", "train.data", "--data is required"),
    place("Batches", "train.order", "always there"),
    place("make_optimizer()", "train.optimizer", "always there"),
    place("make_optimizer()", "train.optimizer_implementation", "always there"),
    place("make_optimizer()", "train.learning_rate", "always there"),
    place("make_optimizer()", "train.betas", "always there"),
    place("make_optimizer()", "train.epsilon", "always there"),
    place("make_optimizer()", "train.weight_decay", "always there"),
    place("make_optimizer()", "train.momentum", "always there"),
    place("learning_rate()", "train.schedule", "the same in every step"),
    place("train_step()", "train.sync", "always there"),
    place("train_step()", "train.clip_norm", "gradients are not clipped"),
    place("train_step()", "train.clip_value", "gradients are not clipped"),
    place("train_step()", "precision.autocast", "no autocast"),
    place("scaler", "scaler", "the loss is not scaled"),
    place("shard()", "parallel", "always there"),
    place("shard()", "precision", "as stored"),
    place("shard()", "offload", "everything stays on the device"),
    place("checkpoint_layers()", "activation", "nothing is computed again"),
    place("set_num_threads()", "cluster.threads_per_rank", "one thread"),
};

}  // namespace

std::span<const ToolKey> script_places() {
  return k_places;
}

}  // namespace shardlab
