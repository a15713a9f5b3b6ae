#include "apps/psn/output/training_json.h"

#include <fmt/format.h>

#include "apps/psn/output/surrogate_quality.h"

namespace psn::app {

using Json = nlohmann::ordered_json;

Json progress_json(const Progress& p, bool infers) {
  Json json{{"traces", p.traces},
            {"batches", p.batches},
            {"loss", p.loss},
            {"learning_rate", p.rate},
            {"addresses", p.addresses}};
  if (!infers) {
    json["kl_nats_per_trace"] = p.kl;
    json["transitions"] = p.transitions;
  }
  if (!p.validation) return json;
  Json& validation = json["validation"] = {{"traces", p.validation->traces},
                                           {"unseen", p.validation->unseen},
                                           {"loss", p.validation->loss}};
  if (infers) {
    validation["loss_standard_error"] = p.validation->standard_error;
    validation["prior_loss"] = p.validation->prior_loss;
  } else {
    validation["kl_nats_per_trace"] = p.validation->kl;
    validation["kl_standard_error"] = p.validation->standard_error;
  }
  return json;
}

std::vector<std::string> training_warnings(const Progress& last, bool infers) {
  if (!last.finished || !last.validation) return {};
  const Validation& held_out = *last.validation;
  std::vector<std::string> warnings;
  if (infers && learned_nothing(held_out)) {
    warnings.push_back(fmt::format(
        "the network proposes no better than the prior (held-out loss {:.4f} nats per trace, the "
        "prior's {:.4f}): train longer (--traces), with smaller or more updates (--learning_rate, "
        "--batch_size) or wider layers (--observation_layers hidden_dim=64); or the observations "
        "tell nothing of what is to be inferred",
        held_out.loss, held_out.prior_loss));
  }
  if (!infers && held_out.kl > kMostKl) {
    warnings.push_back(
        fmt::format("the surrogate is {:.3g} nats per trace from the simulator (above {}), so its "
                    "posteriors may be far off: train longer (--traces, --from), with more updates "
                    "(--batch_size) or a larger network (--lstm_dim), look where it differs (psn "
                    "compare), or correct its posteriors (psn infer --correct)",
                    held_out.kl, kMostKl));
  }
  return warnings;
}

}  // namespace psn::app
