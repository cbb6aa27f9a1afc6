#include "engine/formats/accelerate/fsdp_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/formats/tools/module_patterns.h"
#include "engine/scenario/offload_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_by_class = "TRANSFORMER_BASED_WRAP";
constexpr std::string_view k_by_size = "SIZE_BASED_WRAP";
constexpr std::string_view k_fsdp = "FSDP";

bool is_word(const ForeignValue* value, std::string_view word) {
  return value != nullptr && value->is_text() && word.compare(value->text) == 0;
}

const ForeignValue* policy_key(const ImportSubject& s) {
  return trainer_has_fsdp(s) ? s.in_trainer("fsdp_config.auto_wrap_policy")
                             : s.in_accelerate("fsdp_config.fsdp_auto_wrap_policy");
}

// Whether layers become units, so that the root keeps nothing that is worth giving back after forward.
bool wraps_layers(const ImportSubject& s) {
  const ForeignValue* const policy = policy_key(s);
  return is_word(policy, k_by_class) || (policy == nullptr && trainer_has_fsdp(s));
}

int version_of(const ForeignValue* value, int absent) {
  return value != nullptr && value->is_integer() ? static_cast<int>(value->integer) : absent;
}

}  // namespace

bool trainer_has_fsdp(const ImportSubject& s) {
  const ForeignValue* const fsdp = s.in_trainer("fsdp");
  if (fsdp == nullptr || fsdp->is_null()) return false;
  if (fsdp->is_text()) return !fsdp->text.empty();
  return fsdp->is_list() ? !fsdp->items.empty() : fsdp->flag;
}

int fsdp_version(const ImportSubject& s) {
  if (trainer_has_fsdp(s)) return s.trainer_is_4 ? 1 : version_of(s.in_trainer("fsdp_config.version"), 2);
  if (!is_word(s.in_accelerate("distributed_type"), k_fsdp)) return 0;
  return version_of(s.in_accelerate("fsdp_config.fsdp_version"), 1);
}

bool flag_of(const ForeignValue* value, bool absent) {
  return value == nullptr || value->kind != ForeignValue::Kind::boolean ? absent : value->flag;
}

std::optional<Fsdp1Sharding> sharding_called(const ForeignValue& value) {
  constexpr const auto& k_all = k_words<Fsdp1Sharding>;
  if (value.is_integer() && value.integer >= 1 && value.integer <= static_cast<std::int64_t>(k_all.size()))
    return k_all[static_cast<std::size_t>(value.integer) - 1].value;
  return value.is_text() ? parse_word<Fsdp1Sharding>(in_lower_case(value.text)) : std::nullopt;
}

ReadBack read_sharding(const ImportSubject& s, const ForeignValue* value) {
  if (fsdp_version(s) != 1) return leave_setting();
  const auto sharding = value == nullptr ? std::nullopt : sharding_called(*value);
  return sharding ? set_setting(std::string(to_string(*sharding))) : unset_setting();
}

ReadBack read_resharding(const ImportSubject& s, const ForeignValue* value) {
  if (fsdp_version(s) != 2) return leave_setting();
  if (!flag_of(value, true)) return set_setting("false");
  if (!wraps_layers(s)) return set_setting("true");
  const bool is_onto_same = s.onto != nullptr && facts_of(*s.onto).framework == Framework::fsdp2;
  if (!is_onto_same) return unset_setting();
  // True and the default differ in the root alone, which has nothing of its own here.
  const ReshardAfterForward& reshard = s.onto->parallel->reshard_after_forward;
  const bool frees = reshard.kind != ReshardKind::to_ranks && reshard.frees(false);
  return frees ? leave_setting() : set_setting("true");
}

std::vector<std::string> listed_classes(const ForeignValue* value) {
  std::vector<std::string> classes;
  if (value == nullptr) return classes;
  for (const ForeignValue& item : value->items) classes.push_back(item.text);
  if (!value->is_text()) return classes;
  std::string_view rest = value->text;
  for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    classes.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma + 1);
  }
  classes.emplace_back(rest);
  return classes;
}

ReadBack read_classes(const ImportSubject& s, const ForeignValue* value) {
  const std::vector<std::string> classes = listed_classes(value);
  const bool is_usual = classes.size() == 1 && classes.front() == s.layer_class;
  if (!wraps_layers(s) || classes.empty() || is_usual) return unset_setting();
  std::vector<YamlNode> items;
  for (const std::string& each : classes) items.push_back(yaml_scalar(each));
  return set_setting(yaml_sequence(std::move(items)));
}

ReadBack read_ignored_modules(const ImportSubject&, const ForeignValue* value) {
  if (value == nullptr || !value->is_text()) return unset_setting();
  const auto patterns = path_patterns(value->text);
  if (!patterns) return leave_setting();
  std::vector<YamlNode> items;
  for (const std::string& each : *patterns) items.push_back(yaml_scalar(each, true));
  return set_setting(yaml_sequence(std::move(items)));
}

ReadBack read_backward_prefetch(const ImportSubject& s, const ForeignValue* value) {
  if (fsdp_version(s) != 1) return leave_setting();
  static constexpr std::pair<std::string_view, BackwardPrefetch> k_known[] = {
      {"backward_pre", BackwardPrefetch::pre}, {"backward_post", BackwardPrefetch::post}};
  BackwardPrefetch prefetch = BackwardPrefetch::none;
  if (value != nullptr && value->is_integer())
    prefetch = value->integer == 1 ? BackwardPrefetch::pre : BackwardPrefetch::post;
  for (const auto& [word, meant] : k_known) {
    if (value != nullptr && value->is_text() && word.compare(in_lower_case(value->text)) == 0)
      prefetch = meant;
  }
  return set_setting(std::string(to_string(prefetch)));
}

ReadBack read_of_version_1(const ImportSubject& s, const ForeignValue* value) {
  return fsdp_version(s) == 1 ? same_value(s, value) : leave_setting();
}

ReadBack read_parameter_offload(const ImportSubject&, const ForeignValue* value) {
  if (!flag_of(value, false)) return unset_setting();
  return set_setting(std::string(to_string(OffloadTarget::cpu)));
}

ReadBack read_layer_checkpoints(const ImportSubject&, const ForeignValue* value) {
  if (!flag_of(value, false)) return unset_setting();
  return set_setting(std::string(to_string(ActivationCheckpoint::full)));
}

ReadBack read_checkpoint_offload(const ImportSubject& s, const ForeignValue* value) {
  return read_parameter_offload(s, value);
}

ReadBack read_loading(const ForeignValue* value, bool by_default) {
  const auto place = flag_of(value, by_default) ? Initialization::rank0_broadcast : Initialization::cpu;
  return set_setting(std::string(to_string(place)));
}

ReadBack read_state_dict(const ForeignValue* value, CheckpointType absent) {
  static constexpr std::pair<std::string_view, CheckpointType> k_known[] = {
      {"FULL_STATE_DICT", CheckpointType::full},
      {"LOCAL_STATE_DICT", CheckpointType::local},
      {"SHARDED_STATE_DICT", CheckpointType::sharded}};
  CheckpointType type = absent;
  for (std::size_t i = 0; i < std::size(k_known); ++i) {
    const bool by_number =
        value != nullptr && value->is_integer() && value->integer == static_cast<std::int64_t>(i) + 1;
    if (by_number || is_word(value, k_known[i].first)) type = k_known[i].second;
  }
  return set_setting(std::string(to_string(type)));
}

ReadBack read_policy(const ForeignValue* value, std::string_view absent, std::int64_t least) {
  const std::string_view word = value != nullptr && value->is_text() ? std::string_view(value->text) : absent;
  if (word == k_by_class) return unset_setting();
  const bool by_size = word == k_by_size && least > 0;
  std::string note;
  if (word == k_by_size && !by_size) note = "SIZE_BASED_WRAP with 0 parameters makes no unit";
  return set_setting(std::string(to_string(by_size ? WrapPolicyKind::size : WrapPolicyKind::none)), note);
}

}  // namespace shardlab
