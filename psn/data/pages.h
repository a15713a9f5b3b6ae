// LMDB trusts its files: a damaged page can take the process with it, and a damaged list of free
// pages can take the data. So its pages are looked at before it does. Those of the trees are few,
// since almost all bytes of a store are in blocks, whose checksums see to them.
#pragma once

#include <cstdint>
#include <string>

namespace psn::data {

// Before the file is opened: is it a database whose pages can be found? Throws DataError.
void check_file(const std::string& path);

// With the view of transaction `id` held open, so that nobody writes over it: do all trees hold
// together and lie within the file, and does no page have two uses? Throws DataError. False: the
// view's root is there no more, since others have written twice; take a new view and ask again.
bool check_pages(const std::string& path, std::uint64_t id);

}  // namespace psn::data
