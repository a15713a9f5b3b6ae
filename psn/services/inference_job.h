// What an inference's job must be, and what follows from it. Internal header of the services.
#pragma once

#include <cstdint>

#include "psn/ranks/communicator.h"
#include "psn/services/infer.h"

namespace psn::services {

// With an engine; and with the network, if the model is one.
InferenceJob completed(InferenceJob job);
// Throws InvalidArgument for what cannot be done. Of a completed job, as all below.
void check_job(const InferenceJob& job, const Communicator& ranks);

// Whether the network's file answers without a model.
bool answers_alone(const InferenceJob& job);
std::uint64_t per_chain(const InferenceJob& job);  // samples
std::uint64_t burn_in(const InferenceJob& job);
std::uint64_t traces_of(const InferenceJob& job);  // that will be run, all in all; 0: not known

}  // namespace psn::services
