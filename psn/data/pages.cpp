#include "psn/data/pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "psn/base/error.h"

namespace psn::data {
namespace {

// Version 1 of LMDB's file format.
constexpr std::uint32_t kMagic = 0xBEEFC0DE, kPagesVersion = 1;
constexpr std::uint16_t kBranch = 1, kLeaf = 2, kMeta = 8;  // flags of pages
constexpr std::uint16_t kBig = 1, kSubtree = 2;             // flags of nodes
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::size_t kPageHeader = 16, kNodeHeader = 8;

struct PageHeader {
  std::uint64_t number;
  std::uint16_t unused, flags, lower, upper;
};
struct Node {
  std::uint16_t low, high, flags, key_size;
};
struct Tree {
  std::uint32_t page_size;  // in the tree of free pages only
  std::uint16_t flags, depth;
  std::uint64_t branch_pages, leaf_pages, big_pages, entries, root;
};
struct Meta {
  std::uint32_t magic, version;
  std::uint64_t address, map_size;
  Tree free, main;
  std::uint64_t last_page, transaction;
};
static_assert(sizeof(PageHeader) == kPageHeader && sizeof(Node) == kNodeHeader &&
              sizeof(Tree) == 48 && sizeof(Meta) == 136);

[[noreturn]] void damaged(std::string_view what) {
  throw DataError(fmt::format("damaged: {}", what));
}

// The file's bytes.
class File {
 public:
  explicit File(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && ::fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    }
    const int error = errno;
    if (file >= 0) ::close(file);
    if (file < 0 || bytes_ == MAP_FAILED) {
      throw DataError(fmt::format("cannot read '{}': {}", path, std::strerror(error)));
    }
    if (size_ == 0) damaged("its file is empty");
  }
  ~File() {
    if (size_ > 0) ::munmap(bytes_, size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t size() const { return size_; }
  template <class T>
  T at(std::size_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(T)) damaged("its file is cut short");
    T result;
    std::memcpy(&result, static_cast<const char*>(bytes_) + offset, sizeof result);
    return result;
  }

 private:
  void* bytes_ = MAP_FAILED;
  std::size_t size_ = 0;
};

Meta read_meta(const File& file, std::size_t offset) {
  const auto page = file.at<PageHeader>(offset);
  const auto meta = file.at<Meta>(offset + kPageHeader);
  if (meta.magic != kMagic || meta.version != kPagesVersion || (page.flags & kMeta) == 0) {
    damaged("its root page is not one");
  }
  const std::uint32_t size = meta.free.page_size;
  if (!std::has_single_bit(size) || size < 512 || size > 65536) damaged("pages of a wrong size");
  return meta;
}

class Checker {
 public:
  Checker(const File& file, const Meta& meta)
      : file_(file), page_size_(meta.free.page_size), end_(meta.last_page + 1) {
    // The last pages may be free and never have been written, but not many.
    if (end_ > file.size() / page_size_ + (1u << 20)) damaged("its file is cut short");
    used_.resize(end_);
  }

  void check(const Meta& meta) {
    if (meta.main.flags != 0 || meta.free.flags != MDB_INTEGERKEY) damaged("flags of its trees");
    check_tree(meta.main, Kind::kMain);
    check_tree(meta.free, Kind::kFree);
    for (const std::uint64_t page : free_) use(page, 1, false);
  }

 private:
  enum class Kind { kMain, kFree, kTable };

  // Marks pages; twice is damage. Free pages need not be in the file.
  void use(std::uint64_t page, std::uint64_t count, bool in_file = true) {
    if (page < 2 || count > end_ || page > end_ - count) damaged("a page beyond its end");
    if (in_file && (page + count) * page_size_ > file_.size()) damaged("its file is cut short");
    for (std::uint64_t i = page; i < page + count; ++i) {
      if (used_[i]) damaged(fmt::format("page {} has two uses", i));
      used_[i] = true;
    }
  }

  void check_tree(const Tree& tree, Kind kind) {
    if (tree.root == kNoPage) return;
    constexpr std::uint16_t kMaxDepth = 32;
    if (tree.depth == 0 || tree.depth > kMaxDepth) damaged("a tree without an end");
    last_key_.reset();
    check_page(tree.root, tree.depth, kind);
  }

  void check_page(std::uint64_t number, unsigned depth, Kind kind) {
    use(number, 1);
    const std::size_t start = number * page_size_;
    const auto page = file_.at<PageHeader>(start);
    const bool is_leaf = depth == 1;
    const std::size_t count = (page.lower - kPageHeader) / 2;
    const std::size_t fewest = is_leaf || kind == Kind::kFree ? 1 : 2;
    if (page.number != number || page.flags != (is_leaf ? kLeaf : kBranch) ||
        page.lower < kPageHeader || page.lower % 2 != 0 || page.lower > page.upper ||
        page.upper > page_size_ || count < fewest) {
      damaged(fmt::format("page {}", number));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto offset = file_.at<std::uint16_t>(start + kPageHeader + 2 * i);
      if (offset < page.upper || offset + kNodeHeader > page_size_) {
        damaged(fmt::format("page {}", number));
      }
      const auto node = file_.at<Node>(start + offset);
      if (offset + kNodeHeader + node.key_size > page_size_) {
        damaged(fmt::format("page {}", number));
      }
      if (is_leaf) {
        check_leaf_node(node, start, offset, kind);
      } else {
        check_page(node.low | std::uint64_t{node.high} << 16 | std::uint64_t{node.flags} << 32,
                   depth - 1, kind);
      }
    }
  }

  void check_leaf_node(const Node& node, std::size_t start, std::size_t offset, Kind kind) {
    const std::uint64_t size = node.low | std::uint64_t{node.high} << 16;
    const std::size_t at = offset + kNodeHeader + node.key_size;
    const bool big = node.flags == kBig;
    const std::uint16_t plain = kind == Kind::kMain ? kSubtree : 0;
    if ((node.flags != plain && !big) || (big && kind == Kind::kMain) ||
        at + (big ? sizeof(std::uint64_t) : size) > page_size_) {
      damaged("a record that is not in its page");
    }
    std::size_t data = start + at;
    if (big) {
      const auto first = file_.at<std::uint64_t>(data);
      use(first, (kPageHeader - 1 + size) / page_size_ + 1);
      data = first * page_size_ + kPageHeader;
    }
    if (kind == Kind::kMain) return check_subtree(node, size, data);
    if (node.key_size != sizeof(std::uint64_t)) damaged("a key of a wrong size");
    const auto key = file_.at<std::uint64_t>(start + offset + kNodeHeader);
    if (last_key_ && key <= *last_key_) damaged("keys out of order");
    last_key_ = key;
    if (kind == Kind::kFree) read_free_pages(data, size);
  }

  void check_subtree(const Node& node, std::uint64_t size, std::size_t at) {
    if (size != sizeof(Tree) || node.key_size == 0) damaged("a table that is not one");
    const auto tree = file_.at<Tree>(at);
    if (tree.flags != MDB_INTEGERKEY) damaged("flags of a table");
    check_tree(tree, Kind::kTable);
  }

  void read_free_pages(std::size_t at, std::uint64_t size) {
    const auto count = file_.at<std::uint64_t>(at);
    if (size % 8 != 0 || count > size / 8 - 1) damaged("its list of free pages");
    for (std::uint64_t i = 0; i < count; ++i) {
      free_.push_back(file_.at<std::uint64_t>(at + 8 * (i + 1)));
      if (i > 0 && free_.back() >= free_[free_.size() - 2]) damaged("its list of free pages");
    }
  }

  const File& file_;
  const std::size_t page_size_;
  const std::uint64_t end_;
  std::vector<bool> used_;
  std::vector<std::uint64_t> free_;
  std::optional<std::uint64_t> last_key_;
};

}  // namespace

void check_file(const std::string& path) {
  const File file(path);
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Meta first = read_meta(file, 0);
    const Meta second = read_meta(file, first.free.page_size);
    if (first.free.page_size != second.free.page_size) damaged("pages of two sizes");
    // The two roots are written by turns: even transactions to the first, odd ones to the second.
    const std::uint64_t a = first.transaction, b = second.transaction;
    if (a % 2 == 0 && (a + 1 == b || b + 1 == a || (a == 0 && b == 0))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // somebody may be writing
  }
  damaged("its two roots do not belong together");
}

bool check_pages(const std::string& path, std::uint64_t id) {
  const File file(path);
  const Meta first = read_meta(file, 0);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{first.free.page_size}}) {
    const Meta meta = read_meta(file, offset);
    if (meta.transaction != id) continue;
    Checker(file, meta).check(meta);
    return true;
  }
  return false;
}

}  // namespace psn::data
