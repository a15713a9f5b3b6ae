// A criticism, for people.
#pragma once

#include "psn/services/criticise.h"

namespace psn::app {

void print_criticism(const services::CriticismResult& result, const services::CriticismJob& job);

}  // namespace psn::app
