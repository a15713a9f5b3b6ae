// A report of results that other services left in folders and files: what it says as plain data,
// as one HTML page, and its figures as files of their own.
//
// Blocking; reads the inputs and writes what it is told to, nothing else.
#pragma once

#include <string>
#include <vector>

#include "psn/report/report.h"

namespace psn::services {

// The page that commands leave in their folder.
inline constexpr const char* kReportFile = "report.html";

// Of folders of --out and --log and networks' files (.psn), each a part of it, in that order. Runs
// of a model (psn simulate --out) are drawn as the prior of posteriors of that model. Throws
// DataError that names the input that is no result, or is damaged.
Report report_on_results(const std::vector<std::string>& inputs);

// Throws DataError.
void write_report(const Report& report, const std::string& path);

// Where to write a figure; empty: nowhere.
struct FigureFiles {
  std::string svg, png, pdf;
};

// Draws one figure without a browser: with node and, for PNG and PDF, rsvg-convert. Throws
// InvalidArgument for a name that the report does not have or a figure that is no picture,
// DataError if a program is missing or fails.
void draw_figure(const Report& report, const std::string& name, const FigureFiles& files);
// The same for a figure of one's own.
void draw_figure(const Figure& figure, const FigureFiles& files);

}  // namespace psn::services
