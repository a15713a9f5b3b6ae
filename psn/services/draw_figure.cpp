#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/io/atomic_file.h"
#include "psn/report/assets.h"
#include "psn/services/report.h"
#include "psn/services/reporting/programs.h"

namespace psn::services {
namespace {

namespace fs = std::filesystem;

// A folder for what programs read and write, gone at the end.
class Workshop {
 public:
  Workshop() : path_(fs::temp_directory_path() / fmt::format("psn-figure-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view content) const {
    write_file_atomically(file(name), content);
    return file(name);
  }

 private:
  fs::path path_;
};

const Figure& find_figure(const Report& report, const std::string& name) {
  std::vector<std::string> names;
  for (const Part& part : report.parts) {
    for (const Section& section : part.sections) {
      for (const Figure& figure : section.figures) {
        if (figure.name == name) return figure;
        names.push_back(figure.name);
      }
    }
  }
  throw InvalidArgument(
      fmt::format("`figure` '{}': not in this report{}; psn report --json lists "
                  "them",
                  name, suggestion(name, names)));
}

// The colours that the page gives to drawings, for one that stands alone.
constexpr const char* kDrawingStyle =
    "<style>.node polygon,.node path,.node ellipse{fill:#fff;stroke:#5a6475}"
    ".edge path{stroke:#5a6475;fill:none}.edge polygon{fill:#5a6475}.absent{visibility:hidden}"
    ".w1 path{stroke-width:.5}.w3 path{stroke-width:1.5}.w4 path{stroke-width:2.1}"
    ".w5 path{stroke-width:2.8}.more path,.more polygon{stroke:#b3400c}.more text{fill:#b3400c}"
    ".less path,.less polygon{stroke:#1a5fb4}.less text{fill:#1a5fb4}</style>";

// Of a drawing by Graphviz, which says it in points; from now on in units of what it lies in.
double take_extent(std::string& svg, const char* name) {
  const auto at = svg.find(fmt::format(" {}=\"", name));
  if (at == svg.npos) return 0;
  const auto begin = at + std::string_view(name).size() + 3, end = svg.find('"', begin);
  const double extent = std::strtod(svg.c_str() + begin, nullptr);
  svg.replace(begin, end - begin, fmt::format("{}", extent));
  return extent;
}

// The drawings of all sides beside each other.
std::string drawing_alone(const std::string& html) {
  std::vector<std::string> sides;
  double width = 0, height = 0;
  std::string inner;
  for (auto at = html.find("<svg"); at != html.npos; at = html.find("<svg", at + 1)) {
    std::string side = html.substr(at, html.find("</svg>", at) + 6 - at);
    height = std::max(height, take_extent(side, "height"));
    const double own = take_extent(side, "width");
    side.insert(4, fmt::format(" x=\"{}\"", width));
    width += own + 20;
    inner += side;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">{2}"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>{3}</svg>\n",
      width, height, kDrawingStyle, inner);
}

std::string figure_svg(const Figure& figure, const Workshop& workshop) {
  if (figure.form == Figure::Form::kDrawing) return drawing_alone(figure.content);
  if (figure.form == Figure::Form::kTraces) {
    throw InvalidArgument(fmt::format("`figure` '{}': traces are no picture", figure.name));
  }
  if (asset(Asset::kVega).empty()) {
    throw InvalidArgument("this psn was built without Vega, which draws the figures");
  }
  const std::string svg = workshop.file("figure.svg");
  run_program({"node", workshop.write("export.js", asset(Asset::kExport)),
               workshop.write("figure.json", figure.content),
               workshop.write("vega.js", asset(Asset::kVega)),
               workshop.write("vega-lite.js", asset(Asset::kVegaLite))},
              svg, "figures as files");
  return read_file(svg);
}

}  // namespace

void draw_figure(const Report& report, const std::string& name, const FigureFiles& files) {
  draw_figure(find_figure(report, name), files);
}

void draw_figure(const Figure& figure, const FigureFiles& files) {
  const Workshop workshop;
  const std::string svg = figure_svg(figure, workshop);
  if (!files.svg.empty()) write_file_atomically(files.svg, svg);
  const std::string source = workshop.write("drawing.svg", svg);
  for (const auto& [format, file] : {std::pair("png", &files.png), std::pair("pdf", &files.pdf)}) {
    if (file->empty()) continue;
    const std::string made = workshop.file(fmt::format("drawing.{}", format));
    run_program({"rsvg-convert", "-f", format, "-z", "2", source}, made, "figures as PNG and PDF");
    write_file_atomically(*file, read_file(made));
  }
}

}  // namespace psn::services
