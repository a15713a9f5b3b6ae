// The header of a store: what it is made of.
#pragma once

#include <string>
#include <vector>

#include "psn/data/store.h"

namespace psn::data {

std::string header_bytes(const std::vector<Part>& parts);
// Throws DataError for a store of a later format.
std::vector<Part> read_header(const Database& database, const Transaction& view);
// Throws DataError unless a store of these parts can go on as one of those wanted.
void require_parts(const Database& database, const std::vector<Part>& stored,
                   const std::vector<Part>& wanted);

}  // namespace psn::data
