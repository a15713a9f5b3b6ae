#include "psn/services/training_history.h"

#include <nlohmann/json.hpp>

namespace psn::services {

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
    if (p.validation->linear_loss) validation["linear_loss"] = *p.validation->linear_loss;
    if (p.validation->remote_observation > 0) {
      validation["remote_observation"] = p.validation->remote_observation;
    }
  } else {
    validation["kl_nats_per_trace"] = p.validation->kl;
    validation["kl_standard_error"] = p.validation->standard_error;
  }
  return json;
}

namespace {

// Of the last report that has one; nullopt if there is none. A history may be anything: what is not
// as the trainer writes it is not known.
template <class Figure>
std::optional<Figure> of_last_validation(const std::string& history, auto figure) try {
  const Json reports = Json::parse(history);
  for (auto report = reports.rbegin(); report != reports.rend(); ++report) {
    if (report->contains("validation")) return figure(report->at("validation"));
  }
  return std::nullopt;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace

std::optional<Validation> last_validation(const std::string& history) {
  return of_last_validation<Validation>(history, [](const Json& held_out) {
    std::optional<double> linear_loss;
    if (held_out.contains("linear_loss")) linear_loss = held_out.at("linear_loss").get<double>();
    return Validation{.traces = held_out.at("traces").get<std::uint64_t>(),
                      .unseen = held_out.value("unseen", std::uint64_t{0}),
                      .loss = held_out.at("loss").get<double>(),
                      .kl = held_out.value("kl_nats_per_trace", 0.0),
                      .standard_error = held_out.value("kl_standard_error", 0.0),
                      .prior_loss = held_out.value("prior_loss", 0.0),
                      .linear_loss = linear_loss,
                      .remote_observation = held_out.value("remote_observation", 0.0)};
  });
}

std::optional<HeldOutKl> held_out_kl(const std::string& history) {
  return of_last_validation<HeldOutKl>(history, [](const Json& held_out) {
    return HeldOutKl{held_out.at("kl_nats_per_trace").get<double>(),
                     held_out.at("kl_standard_error").get<double>(),
                     held_out.at("traces").get<std::uint64_t>()};
  });
}

std::optional<RemoteObservation> remote_observation(const std::string& history) {
  return of_last_validation<RemoteObservation>(history, [](const Json& held_out) {
    return RemoteObservation{held_out.at("remote_observation").get<double>(),
                             held_out.at("traces").get<std::uint64_t>()};
  });
}

}  // namespace psn::services
