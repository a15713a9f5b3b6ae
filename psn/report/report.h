// A report as plain data: what is said of one or several results, in the order in which a reader
// meets it. to_html() (page.h) makes a page of it; files under figures/ make the figures.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace psn {

struct Table {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // the first cell names the row
};

struct Figure {
  enum class Form {
    kVegaLite,  // a specification with its data, which are the table behind it
    kDrawing,   // SVG
    kTraces,    // JSON of traces for the explorer (figures/traces.h)
  };
  std::string name;     // small letters, digits and hyphens; unique in a report
  std::string title;    // plain text, as all texts here
  std::string reading;  // how to read it, in two sentences
  Form form = Form::kVegaLite;
  std::string content;
  Table data{};       // behind a drawing
  bool wide = false;  // as wide as the page, not half of it
};

// A text that keeps its lines, beside another one of the same kind: programs.
struct Listing {
  std::string left_title, left, right_title, right;
};

struct Section {
  std::string title;
  std::string text{};
  std::vector<std::pair<std::string, std::string>> facts{};  // name and value
  std::vector<std::string> warnings{};
  std::vector<Table> tables{};
  std::vector<Figure> figures{};
  std::vector<Listing> listings{};
};

// One result: a folder or a file.
struct Part {
  std::string kind;   // "inference"
  std::string title;  // "Inference: control-flow"
  std::string path;
  std::vector<Section> sections{};
};

struct Report {
  std::string title;
  std::vector<Part> parts{};
};

// As a name of a figure: small letters and digits, everything else hyphens.
std::string figure_name(const std::string& text);

// A number as a table shows it: five significant digits.
std::string shown(double x);

}  // namespace psn
