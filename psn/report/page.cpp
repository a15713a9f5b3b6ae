#include "psn/report/page.h"

#include <fmt/format.h>

#include "psn/report/assets.h"

namespace psn {
namespace {

// JSON within a script element, which no text in it can end.
std::string for_script(const std::string& json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) c == '<' ? result += "\\u003c" : result += c;
  return result;
}

bool is_words(const std::string& cell) {
  return !cell.empty() && cell.find_first_of("0123456789") != 0 && cell.find_first_of("-+.<~") != 0;
}

std::string table_html(const Table& table) {
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
      "<table><caption>{0}</caption><thead><tr>",
      escaped_html(table.caption));
  // A column is of words or of numbers, as its first cell is.
  const auto of_words = [&](std::size_t i) {
    return i > 0 && !table.rows.empty() && i < table.rows[0].size() && is_words(table.rows[0][i]);
  };
  const auto begin = [&](std::size_t i, const char* tag, const char* scope) {
    return fmt::format("<{}{}{}>", tag, scope, of_words(i) ? " class=\"words\"" : "");
  };
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    html += begin(i, "th", " scope=\"col\"") + escaped_html(table.head[i]) + "</th>";
  }
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += i == 0 ? "<th scope=\"row\">" : begin(i, "td", "");
      html += escaped_html(row[i]);
      html += i == 0 ? "</th>" : "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string listing_html(const Listing& listing) {
  std::string html = "<div class=\"listing\">";
  for (const auto& [title, text] : {std::pair(&listing.left_title, &listing.left),
                                    std::pair(&listing.right_title, &listing.right)}) {
    html += fmt::format(
        "<div><h4>{0}</h4><pre tabindex=\"0\" role=\"region\" aria-label=\"{0}\">{1}</pre></div>",
        escaped_html(*title), escaped_html(*text));
  }
  return html + "</div>\n";
}

const char* form_name(Figure::Form form) {
  switch (form) {
    case Figure::Form::kVegaLite:
      return "vega";
    case Figure::Form::kDrawing:
      return "drawing";
    case Figure::Form::kTraces:
      break;
  }
  return "traces";
}

std::string figure_html(const Figure& figure) {
  const bool drawing = figure.form == Figure::Form::kDrawing;
  std::string html = fmt::format(
      "<figure id=\"{0}\" data-form=\"{1}\"{2}><figcaption><h4 id=\"{0}-title\">{3}</h4>"
      "<p class=\"reading\">{4}</p></figcaption><div class=\"plot\">{5}</div>",
      figure.name, form_name(figure.form), figure.wide ? " class=\"wide\"" : "",
      escaped_html(figure.title), escaped_html(figure.reading), drawing ? figure.content : "");
  if (!drawing) {
    html +=
        fmt::format("<script type=\"application/json\">{}</script>", for_script(figure.content));
  }
  if (drawing) {
    html += "<details class=\"data\"><summary>Data of this figure</summary>" +
            table_html(figure.data) + "</details>";
  }
  return html + "</figure>\n";
}

std::string section_html(const Section& section, const std::string& id) {
  std::string html =
      fmt::format("<section id=\"{}\"><h3>{}</h3>\n", id, escaped_html(section.title));
  if (!section.text.empty()) html += fmt::format("<p>{}</p>\n", escaped_html(section.text));
  for (const std::string& warning : section.warnings) {
    html += fmt::format("<p class=\"warning\"><strong>Warning:</strong> {}</p>\n",
                        escaped_html(warning));
  }
  if (!section.facts.empty()) {
    html += "<dl class=\"facts\">";
    for (const auto& [name, value] : section.facts) {
      html +=
          fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped_html(name), escaped_html(value));
    }
    html += "</dl>\n";
  }
  for (const Table& table : section.tables) html += table_html(table);
  if (!section.figures.empty()) {
    html += "<div class=\"figures\">\n";
    for (const Figure& figure : section.figures) html += figure_html(figure);
    html += "</div>\n";
  }
  for (const Listing& listing : section.listings) html += listing_html(listing);
  return html + "</section>\n";
}

std::string section_id(std::size_t part, std::size_t section) {
  return fmt::format("part-{}-{}", part + 1, section + 1);
}

std::string link_html(const std::string& id, const std::string& title) {
  return fmt::format("<a href=\"#{}\">{}</a>", id, escaped_html(title));
}

std::string contents_html(const Report& report) {
  std::string html = "<ul>";
  for (std::size_t p = 0; p < report.parts.size(); ++p) {
    const Part& part = report.parts[p];
    html += "<li>" + link_html(fmt::format("part-{}", p + 1), part.title) + "<ul>";
    for (std::size_t s = 0; s < part.sections.size(); ++s) {
      html += "<li>" + link_html(section_id(p, s), part.sections[s].title) + "</li>";
    }
    html += "</ul></li>";
  }
  return html + "</ul>";
}

std::string parts_html(const Report& report) {
  std::string html;
  for (std::size_t p = 0; p < report.parts.size(); ++p) {
    const Part& part = report.parts[p];
    html += fmt::format(
        "<article id=\"part-{0}\" aria-labelledby=\"part-{0}-title\" data-kind=\"{1}\">"
        "<h2 id=\"part-{0}-title\">{2}</h2><p class=\"path\">{3}</p>\n",
        p + 1, escaped_html(part.kind), escaped_html(part.title), escaped_html(part.path));
    for (std::size_t s = 0; s < part.sections.size(); ++s) {
      html += section_html(part.sections[s], section_id(p, s));
    }
    html += "</article>\n";
  }
  return html;
}

}  // namespace

std::string escaped_html(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string to_html(const Report& report) {
  const auto fill = [&](std::string_view mark) -> std::string {
    if (mark == "title") return escaped_html(report.title);
    if (mark == "style") return std::string(asset(Asset::kStyle));
    if (mark == "contents") return contents_html(report);
    if (mark == "parts") return parts_html(report);
    if (mark == "libraries") {
      std::string libraries;
      for (const Asset library : {Asset::kVega, Asset::kVegaLite, Asset::kVegaEmbed}) {
        libraries.append(asset(library)) += "\n";
      }
      return libraries;
    }
    return std::string(asset(Asset::kScript));
  };
  // What is filled in is not searched again.
  std::string html;
  std::string_view page = asset(Asset::kPage);
  for (auto begin = page.find("{{"); begin != page.npos; begin = page.find("{{")) {
    const auto end = page.find("}}", begin);
    html += page.substr(0, begin);
    html += fill(page.substr(begin + 2, end - begin - 2));
    page.remove_prefix(end + 2);
  }
  return html.append(page);
}

}  // namespace psn
