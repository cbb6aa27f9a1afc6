// Models and data sets that the hub does not give.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

LogSign of_no_such_repository(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 84,
          .message = "The hub has no repository of this name, or does not show it to this account.",
          .fix =
              "look for the name on the hub (a local folder must exist on every node); a private one "
              "needs HF_TOKEN in the environment of every rank"};
}

LogSign of_unreached_hub(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 84,
          .message = "The node has no way to the hub, and the files are not in its cache.",
          .fix =
              "download them once where there is a network, into an HF_HOME that all nodes see, and set "
              "HF_HUB_OFFLINE=1 for the job"};
}

LogSign of_busy_hub(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 84,
          .message = "The hub takes no requests from this address for now.",
          .fix =
              "let one rank download first and the others read the cache (HF_HOME on a disk that all nodes "
              "see, HF_HUB_OFFLINE=1 afterwards)"};
}

Rule hub_access() {
  return {
      .id = "environment/hub-access",
      .codes = {"Y-23"},
      .title = "the hub refuses a model or a data set",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "huggingface_hub/errors.py; transformers/utils/hub.py",
      .message = "The repository is gated, and the hub does not know that this account may have it.",
      .explanation =
          "A gated model is given to accounts that accepted its licence, by the token that comes with the "
          "request. Ranks of another node, or in a container, have neither the token nor the cache of the "
          "node where it worked.",
      .fix = {.kind = FixKind::environment,
              .text = "accept the licence on the model's page, and give every rank the token of that account "
                      "(HF_TOKEN, or huggingface-cli login on every node), or a cache that has the files "
                      "(HF_HOME)"},
      .example = "OSError: You are trying to access a gated repo.",
      .signs =
          {
              {.pattern = "you are trying to access a gated repo", .certainty = 92},
              {.pattern = "gatedrepoerror", .certainty = 92},
              {.pattern = "cannot access gated repo for url", .certainty = 92},
              {.pattern = "is restricted and you are not in the authorized list", .certainty = 92},
              {.pattern = "401 client error*huggingface.co", .certainty = 84},
              {.pattern = "401 client error*request id", .certainty = 80},
              {.pattern = "403 client error*huggingface.co", .certainty = 82},
              of_busy_hub("429 client error*huggingface.co"),
              of_busy_hub("hfhubhttperror: 429"),
              of_busy_hub("hfhubhttperror: 5"),
              of_no_such_repository("repositorynotfounderror"),
              of_no_such_repository("is not a local folder and is not a valid model identifier"),
              of_unreached_hub("couldn't connect to 'https://huggingface.co'"),
              of_unreached_hub("localentrynotfounderror"),
          },
  };
}

}  // namespace

std::vector<Rule> environment_hub_access_rules() {
  return {hub_access()};
}

}  // namespace shardlab
