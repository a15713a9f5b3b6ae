// The header of a store: what it is made of.
#pragma once

#include <string>
#include <vector>

#include "psn/data/store.h"

namespace psn::data {

std::string header_bytes(const std::vector<Origin>& origins);
// Throws DataError for a store of a later format.
std::vector<Origin> read_header(const Database& database, const Transaction& view);
// Throws DataError unless a store of these origins can go on as one of those wanted.
void require_origins(const Database& database, const std::vector<Origin>& stored,
                     const std::vector<Origin>& wanted);

}  // namespace psn::data
