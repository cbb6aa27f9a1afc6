#include <initializer_list>

#include <fmt/format.h>

#include "engine/formats/deepspeed/deepspeed_settings.h"
#include "engine/formats/deepspeed/read_deepspeed.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {
namespace {

Place file_of(const ImportSubject& s) {
  return in_file(s.deepspeed->place.file);
}

// Accelerate's word against a dtype that the file enables (DeepSpeedPlugin.set_mixed_precision).
void check_mixed_precision(const ImportSubject& s, std::string_view word, const ForeignValue* other,
                           Problems& problems) {
  const ForeignValue* const mixed = s.in_accelerate("mixed_precision");
  if (s.trainer != nullptr || !is_true(other) || mixed == nullptr || mixed->text != word) return;
  problems.add(
      mixed->place,
      fmt::format("mixed_precision {} stands against the other dtype that the DeepSpeed file enables, "
                  "and accelerate refuses that",
                  word),
      fmt::format("it is enabled at {}; \"auto\" takes mixed_precision", to_string(other->place)));
}

void check_precision(const ImportSubject& s, Problems& problems) {
  const ForeignValue* const bf16 = s.in_deepspeed("bf16.enabled");
  const ForeignValue* const fp16 = s.in_deepspeed("fp16.enabled");
  if (is_true(bf16) && is_true(fp16))
    problems.add(fp16->place, "fp16 and bf16 are both enabled, and DeepSpeed refuses that",
                 "bf16 is enabled at " + to_string(bf16->place));
  check_mixed_precision(s, "bf16", fp16, problems);
  check_mixed_precision(s, "fp16", bf16, problems);
}

// With "auto" whoever starts the training chooses; without a word of his nothing is mixed.
void warn_of_automatic_precision(const ImportSubject& s, ImportReading& reading) {
  const ForeignValue* const bf16 = s.in_deepspeed("bf16.enabled");
  const ForeignValue* const fp16 = s.in_deepspeed("fp16.enabled");
  const bool nobody_says = s.trainer == nullptr && s.in_accelerate("mixed_precision") == nullptr;
  const bool is_mixed = s.onto != nullptr && s.onto->precision->param.has_value();
  if ((!is_automatic(bf16) && !is_automatic(fp16)) || !nobody_says || is_mixed) return;
  if (is_true(bf16) || is_true(fp16)) return;
  reading.warnings.push_back({(is_automatic(bf16) ? bf16 : fp16)->place,
                              "the precision is \"auto\", and nobody says it: parameters stay as stored",
                              "--set precision.param=bfloat16, TrainingArguments, or a scenario that says it",
                              ErrorCode::unsaid});
}

// The three sizes and the ranks, of which DeepSpeed asserts the product.
void check_product(const ImportSubject& s, Problems& problems) {
  const ForeignValue* const whole_batch = s.in_deepspeed("train_batch_size");
  if (whole_batch == nullptr || !whole_batch->is_integer()) return;
  if (!s.ranks) {
    problems.add(whole_batch->place, "train_batch_size is of all ranks, and nothing says how many there are",
                 "--onto S, a launch script or an accelerate file says it", ErrorCode::unsaid);
    return;
  }
  const DeepspeedBatch batch = deepspeed_batch(s);
  if (!batch.micro || !batch.accumulation) return;
  if (*batch.micro == 0 || *batch.accumulation == 0) {
    const std::int64_t part = *batch.micro == 0 ? *batch.accumulation : *batch.micro;
    problems.add(
        whole_batch->place,
        fmt::format("train_batch_size {} is too small for {} ranks: each gets {} {}", whole_batch->integer,
                    *s.ranks, *batch.micro == 0 ? "no sample in" : "no whole micro-batch of",
                    *batch.micro == 0 ? fmt::format("{} micro-batches", part) : std::to_string(part)),
        "it is for fewer ranks: --set cluster.gpus_per_node=N says how many", ErrorCode::batch_product);
    return;
  }
  const std::int64_t product = *batch.micro * *batch.accumulation * *s.ranks;
  if (product != whole_batch->integer)
    problems.add(whole_batch->place,
                 fmt::format("train_batch_size {} is not micro-batch {} x accumulation {} x {} ranks = {}",
                             whole_batch->integer, *batch.micro, *batch.accumulation, *s.ranks, product),
                 "leave one of the three out, DeepSpeed completes it", ErrorCode::batch_product);
}

void check_batch(const ImportSubject& s, Problems& problems) {
  const ForeignValue* const micro = s.in_deepspeed("train_micro_batch_size_per_gpu");
  if (micro == nullptr && s.in_deepspeed("train_batch_size") == nullptr) {
    problems.add(file_of(s), "says neither train_micro_batch_size_per_gpu nor train_batch_size",
                 "DeepSpeed needs one of them; \"auto\" leaves it to the Trainer or to accelerate");
    return;
  }
  if (is_automatic(s.in_deepspeed("train_batch_size")) && micro == nullptr)
    problems.add(s.in_deepspeed("train_batch_size")->place,
                 "train_batch_size is \"auto\" and train_micro_batch_size_per_gpu is not said",
                 "DeepSpeed needs one of them; \"auto\" for both leaves it to the Trainer or to accelerate");
  if (is_automatic(micro) && !deepspeed_batch(s).micro)
    problems.add(micro->place, "train_micro_batch_size_per_gpu is \"auto\": who starts the training says it",
                 "--onto S or a file of TrainingArguments says it, or --set train.micro_batch=1",
                 ErrorCode::unsaid);
  check_product(s, problems);
}

void check_automatic_sizes(const ImportSubject& s, Problems& problems) {
  for (const char* key :
       {"reduce_bucket_size", "stage3_prefetch_bucket_size", "stage3_param_persistence_threshold"}) {
    const ForeignValue* const value = s.in_deepspeed(fmt::format("zero_optimization.{}", key));
    if (is_automatic(value) && !s.hidden_size)
      problems.add(value->place, fmt::format("{} is \"auto\": it follows from the model's hidden size", key),
                   "--onto S says the model, or --set model.config=llama-3-8b", ErrorCode::unsaid);
  }
}

void check_offload_section(const ImportSubject& s, std::string_view name, Problems& problems,
                           ImportReading& reading) {
  const ForeignValue* const section = s.in_deepspeed(fmt::format("zero_optimization.{}", name));
  if (section == nullptr || !section->is_map()) return;
  const ForeignValue* const device = section->find("device");
  const ForeignValue* const path = section->find("nvme_path");
  static constexpr std::string_view k_drive = "nvme", k_host = "cpu";
  if (device == nullptr) return;
  if (device->text == k_drive && (path == nullptr || path->is_null()))
    problems.add(device->place, fmt::format("{}: device nvme needs nvme_path", name));
  const bool offloads = device->text == k_drive || device->text == k_host;
  const int stage = zero_stage(s);
  if (offloads && name == k_param_section && stage != 3)
    reading.warnings.push_back(
        {device->place,
         fmt::format("offload_param has no effect at stage {}: parameters stay on the device", stage),
         "stage 3 offloads parameters", ErrorCode::no_effect});
  if (offloads && name == k_optimizer_section && stage == 0)
    reading.warnings.push_back({device->place, "offload_optimizer has no effect at stage 0",
                                "stages 1 to 3 offload", ErrorCode::no_effect});
}

void check_zero(const ImportSubject& s, Problems& problems, ImportReading& reading) {
  const int stage = zero_stage(s);
  const auto zero = [&](const char* key) { return s.in_deepspeed(fmt::format("zero_optimization.{}", key)); };
  check_offload_section(s, k_param_section, problems, reading);
  check_offload_section(s, k_optimizer_section, problems, reading);
  const ForeignValue* const ratio = zero("offload_optimizer.ratio");
  if (ratio != nullptr && ratio->is_number() && ratio->number < 1 && stage != 3)
    problems.add(
        ratio->place,
        fmt::format("ratio: a part of the optimizer is offloaded at stage 3 alone, not at {}", stage));
  const ForeignValue* const norm = zero("compute_grad_norm");
  if (norm != nullptr && !is_true(norm) && stage != 1 && stage != 2)
    problems.add(norm->place, "compute_grad_norm: false is for the stages 1 and 2 alone");
  for (const auto& [old, now] :
       {std::pair{"cpu_offload", "offload_optimizer"}, std::pair{"cpu_offload_param", "offload_param"}}) {
    if (zero(old) != nullptr && zero(now) != nullptr)
      problems.add(zero(old)->place, fmt::format("{} stands beside {}, which replaces it", old, now),
                   "remove it");
    else if (is_true(zero(old)))
      reading.warnings.push_back({zero(old)->place, fmt::format("{} is deprecated", old),
                                  fmt::format("{}: {{device: cpu}} says it", now)});
  }
  const ForeignValue* const sum = s.in_deepspeed("gradient_allreduce_op");
  static constexpr std::string_view k_sum = "sum";
  if (sum != nullptr && sum->text == k_sum && stage == 3)
    problems.add(sum->place, "gradient_allreduce_op: sum is not for stage 3, DeepSpeed refuses it");
}

void check_parts(const ForeignValue* params, const KnownKeys& tool, std::string_view section,
                 const std::string& path, Problems& problems, ImportReading& reading) {
  if (params == nullptr || !params->is_map()) return;
  CheckedKeys checked = check_keys(*params, tool, section, problems, path);
  reading.warnings.insert(reading.warnings.end(), checked.warnings.begin(), checked.warnings.end());
}

void check_optimizer(const ImportSubject& s, const KnownKeys& tool, Problems& problems,
                     ImportReading& reading) {
  const ForeignValue* const optimizer = s.in_deepspeed("optimizer");
  if (optimizer == nullptr) return;
  if (optimizer->find("type") == nullptr)
    problems.add(optimizer->place, "optimizer: type is missing, without it DeepSpeed makes no optimizer");
  if (is_adam(s))
    check_parts(optimizer->find("params"), tool, "optimizer_params", "optimizer.params.", problems, reading);
}

void check_scheduler(const ImportSubject& s, const KnownKeys& tool, Problems& problems,
                     ImportReading& reading) {
  const ForeignValue* const scheduler = s.in_deepspeed("scheduler");
  if (scheduler == nullptr) return;
  const ForeignValue* const type = scheduler->find("type");
  if (type == nullptr) {
    problems.add(scheduler->place, "scheduler: type is missing, without it DeepSpeed makes no schedule");
    return;
  }
  const ForeignValue* const params = scheduler->find("params");
  check_parts(params, tool, type->text, "scheduler.params.", problems, reading);
  const bool needs_total = tool.section(type->text).find("total_num_steps") != nullptr;
  if (needs_total && (params == nullptr || params->find("total_num_steps") == nullptr))
    problems.add(type->place, fmt::format("scheduler: {} needs params.total_num_steps", type->text));
}

}  // namespace

void check_deepspeed(const ImportSubject& subject, Problems& problems, ImportReading& reading) {
  check_precision(subject, problems);
  warn_of_automatic_precision(subject, reading);
  check_batch(subject, problems);
  check_automatic_sizes(subject, problems);
  check_zero(subject, problems, reading);
  if (const auto tool = known_keys("deepspeed")) {
    check_optimizer(subject, **tool, problems, reading);
    check_scheduler(subject, **tool, problems, reading);
  }
}

}  // namespace shardlab
