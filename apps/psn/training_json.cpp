#include "apps/psn/training_json.h"

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
  } else {
    validation["kl_nats_per_trace"] = p.validation->kl;
    validation["kl_standard_error"] = p.validation->standard_error;
  }
  return json;
}

}  // namespace psn::app
