// psn report: results that were left in folders, as a page to look at.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/page_output.h"
#include "psn/base/error.h"
#include "psn/services/report.h"

namespace psn::app {
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string out = services::kReportFile, figure;
  services::FigureFiles files;
  bool open = false;

  bool draws() const { return !files.svg.empty() || !files.png.empty() || !files.pdf.empty(); }
};

nlohmann::ordered_json contents_json(const Report& report, const std::string& path) {
  nlohmann::ordered_json json{{"title", report.title}};
  if (!path.empty()) json["report"] = path;
  auto& parts = json["parts"] = nlohmann::ordered_json::array();
  for (const Part& part : report.parts) {
    nlohmann::ordered_json figures = nlohmann::ordered_json::array();
    for (const Section& section : part.sections) {
      for (const Figure& figure : section.figures) {
        figures.push_back({{"name", figure.name}, {"title", figure.title}});
      }
    }
    parts.push_back({{"kind", part.kind}, {"path", part.path}, {"figures", figures}});
  }
  return json;
}

void report_command(const ReportOptions& options) {
  if (options.draws() == options.figure.empty()) {
    throw InvalidArgument("`figure` belongs with --svg, --png or --pdf");
  }
  const Report report = services::report_on_results(options.inputs);
  if (options.draws()) {
    services::draw_figure(report, options.figure, options.files);
  } else {
    services::write_report(report, options.out);
  }
  const std::string page = options.draws() ? "" : options.out;
  if (options.common.json) {
    fmt::print("{}\n", contents_json(report, page).dump(2));
  } else {
    for (const std::string& file :
         {page, options.files.svg, options.files.png, options.files.pdf}) {
      if (!file.empty()) fmt::print("{}\n", file);
    }
  }
  if (options.open && !page.empty()) open_page(page);
}

}  // namespace

void add_report_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "report", "results as one HTML page: tables, figures, and how to read them");
  auto options = std::make_shared<ReportOptions>();
  auto& o = *options;
  command->add_option("inputs,--inputs", o.inputs, "folders of --out or --log, networks (.psn)")
      ->required();
  command->add_option("--out", o.out, "the page to write")->capture_default_str();
  command->add_option("--figure", o.figure,
                      "one figure instead of the page, by its name (--json lists them), to:");
  command->add_option("--svg", o.files.svg, "a file");
  command->add_option("--png", o.files.png, "a file");
  command->add_option("--pdf", o.files.pdf, "a file");
  add_open(*command, o.open);
  o.common.add_to(*command);
  command->callback([options] { report_command(*options); });
}

}  // namespace psn::app
