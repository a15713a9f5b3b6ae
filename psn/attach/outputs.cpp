#include "psn/attach/outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/io/descriptor.h"

namespace psn::attach {
namespace {

constexpr std::size_t kMostLine = 4096;  // std::regex goes deep on long ones
constexpr std::size_t kMostNumbers = 100'000;
constexpr std::size_t kMostFile = std::size_t{1} << 26;

// A regular file: a run may have left a pipe or a link there, which nobody is to wait for.
std::string file_of(const Output& output, const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / output.file).string();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw ModelError(fmt::format("it has written no file '{}'", output.file));
  }
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostFile), '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + used, text.size() - used);
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return text;
}

double number_in(const Output& output, std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '+')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ModelError(fmt::format("'{}' of {} is no number", one_line(text, 100), output.name));
  }
  return output.offset + output.scale * number;
}

template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, std::min(end, kMostLine)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  const bool commas = line.find(',') != line.npos;
  const char* separators = commas ? "," : " \t;";
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    if (commas || end > 0) cells.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Cells of one column, whatever line has so many; a first line with its name is no row.
std::vector<std::string_view> column_of(const Output& output, std::string_view text) {
  std::vector<std::string_view> found;
  std::optional<std::size_t> place;
  if (is_number(output.column)) place = std::strtoul(output.column.c_str(), nullptr, 10) - 1;
  each_line(text, [&](std::string_view line) {
    if (found.size() >= kMostNumbers) return;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto cells = cells_of(line);
    if (!place) {
      const auto named = std::find(cells.begin(), cells.end(), output.column);
      if (named != cells.end()) place = static_cast<std::size_t>(named - cells.begin());
    } else if (*place < cells.size() && !line.starts_with('#')) {
      found.push_back(cells[*place]);
    }
  });
  return found;
}

std::vector<std::string_view> matches_of(const Output& output, std::string_view text) {
  std::vector<std::string_view> found;
  each_line(text, [&](std::string_view line) {
    std::cmatch match;
    if (found.size() >= kMostNumbers ||
        !std::regex_search(line.data(), line.data() + line.size(), match, *output.pattern)) {
      return;
    }
    const auto& group = match[match.size() > 1 ? 1 : 0];
    if (group.matched) found.emplace_back(group.first, static_cast<std::size_t>(group.length()));
  });
  return found;
}

}  // namespace

std::vector<double> numbers_of(const Output& output, const Leavings& run) {
  if (output.from == Output::From::kExit) {
    return {output.offset + output.scale * run.exit_code};
  }
  const std::string text =
      output.from == Output::From::kFile ? file_of(output, run.folder) : run.printed;
  const auto found = output.pattern ? matches_of(output, text) : column_of(output, text);
  if (found.empty() && output.optional) return {};
  if (found.empty() && !output.list) {
    throw ModelError(fmt::format("nothing in its output is '{}'", output.name));
  }
  std::vector<double> numbers;
  if (!output.list) return {number_in(output, found.back())};
  for (const std::string_view cell : found) numbers.push_back(number_in(output, cell));
  return numbers;
}

}  // namespace psn::attach
