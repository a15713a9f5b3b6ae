#include "psn/report/figures/layout.h"

#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <memory>
#include <mutex>

#include "psn/base/error.h"

namespace psn {

std::string laid_out(const std::string& graph, const std::string& engine) {
  // One at a time, and one context for good: the measuring of fonts remembers those of the first.
  static struct {
    std::mutex mutex;
    GVC_t* context = gvContext();
  } graphviz;
  const std::lock_guard lock(graphviz.mutex);
  GVC_t* const context = graphviz.context;
  const std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> parsed(agmemread(graph.c_str()), agclose);
  if (!context || !parsed || gvLayout(context, parsed.get(), engine.c_str()) != 0) {
    throw DataError("Graphviz cannot lay out a graph of address transitions");
  }
  char* text = nullptr;
  unsigned int length = 0;
  const int failed = gvRenderData(context, parsed.get(), "svg", &text, &length);
  const std::unique_ptr<char, void (*)(char*)> freed(text, gvFreeRenderData);
  std::string svg = failed == 0 ? std::string(text, length) : "";
  gvFreeLayout(context, parsed.get());
  const auto begin = svg.find("<svg");
  if (begin == std::string::npos) throw DataError("Graphviz cannot draw: has it no SVG?");
  return svg.substr(begin);
}

}  // namespace psn
