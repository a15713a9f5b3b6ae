#include "psn/services/source_lines.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "psn/base/text.h"

namespace psn::services {
namespace {

// Where a file's own addresses begin: not at zero for programs that cannot be moved.
std::uint64_t first_address(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr head{};
  if (!in.read(reinterpret_cast<char*>(&head), sizeof(head)) || head.e_type != ET_EXEC) return 0;
  std::uint64_t first = ~std::uint64_t{0};
  in.seekg(static_cast<std::streamoff>(head.e_phoff));
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!in.read(reinterpret_cast<char*>(&part), sizeof(part))) break;
    if (part.p_type == PT_LOAD) first = std::min<std::uint64_t>(first, part.p_vaddr);
  }
  return first == ~std::uint64_t{0} ? 0 : first;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string first_line_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "re"),
                                                             ::pclose);
  std::array<char, 1024> line{};
  if (!pipe || !std::fgets(line.data(), line.size(), pipe.get())) return "";
  std::string text = line.data();
  while (text.ends_with('\n')) text.pop_back();
  return one_line(text);
}

}  // namespace

std::string source_line(const std::string& address,
                        const std::map<std::string, std::string>& modules) {
  const std::string call = address.substr(0, address.find('<'));
  const std::size_t plus = call.rfind("+0x");
  const auto module = modules.find(call.substr(0, plus));
  if (plus == call.npos || module == modules.end()) return "";
  // A call is told by where it comes back to: what lies before that is the call itself.
  const std::uint64_t back = std::strtoull(call.c_str() + plus + 1, nullptr, 16);
  const std::uint64_t place = first_address(module->second) + back - 1;
  std::string said = first_line_of(
      fmt::format("addr2line -C -f -p -s -e {} {:#x} 2>/dev/null", quoted(module->second), place));
  // "main at sim.c:12 (discriminator 3)"; of code without lines, "main at ??:?", where the name is
  // that of whatever lies before it.
  if (said.starts_with("??") || said.find(" at ??") != said.npos) return "";
  said = said.substr(0, said.find(" (discriminator"));
  return said;
}

}  // namespace psn::services
