#include "psn/train/configuration_page.h"

#include <fmt/format.h>

#include "psn/train/options.h"

namespace psn {
namespace {

// Of the presets, by column.
struct Columns {
  Preset surrogate = preset("default", Purpose::kSurrogate);
  Preset inference = preset("default", Purpose::kInference);
  Preset paper = preset("paper", Purpose::kSurrogate);
};

template <class Config, class Of>
std::string table(const Fields<Config>& fields, Of of) {
  Columns by;
  std::string text =
      "| name | limits | default | default, inference | paper | what it is |\n"
      "|---|---|---|---|---|---|\n";
  for (const Field<Config>& field : fields) {
    const std::string other =
        field.other_name.empty() ? "" : fmt::format(", `{}`", field.other_name);
    text += fmt::format("| `{}`{} | {} | {} | {} | {} | {} |\n", field.name, other, field.limits(),
                        field.text(of(by.surrogate)), field.text(of(by.inference)),
                        field.text(of(by.paper)), field.help);
  }
  return text + "\n";
}

}  // namespace

std::string configuration_page() {
  std::string page =
      "# Configuration\n\n"
      "Every setting of a network and of its training, made from the tables that check them\n"
      "(`network_fields()`, `training_fields()`); a test holds this page to them. On the command\n"
      "line each is an option (`--lstm_dim 150`, or `--lstm-dim`), in a `--config` file a TOML "
      "key;\n"
      "those of the network are in the JSON of its file. `purpose` is that of the command.\n"
      "The command line sets `tags` to `learn` for a surrogate, unless the preset is `paper`; and\n"
      "`batch_size`, unless given, by the number of traces ([training](../training.md)).\n\n";
  page += "## Training\n\n";
  page += table(
      training_fields(), [](Preset & p) -> auto& { return p.training; });
  page += "## Network\n\n";
  page += table(
      network_fields(), [](Preset & p) -> auto& { return p.network; });
  page +=
      "## Layers of a variable\n\n"
      "`variable_layers`, and `variable_embedding` by variable or site: `--variable_layers\n"
      "num_layers=2`, `--variable_embedding theta.num_layers=3`, `[variable_embedding.theta]`.\n\n";
  page += table(
      variable_layer_fields(), [](Preset & p) -> auto& { return p.network.variable_layers; });
  page +=
      "## Layers of an observation\n\n"
      "`observation_layers`, and `observe_embedding` by observation, of an inference network.\n\n";
  page += table(
      observation_layer_fields(), [](Preset & p) -> auto& { return p.network.observation_layers; });
  page.pop_back();
  return page;
}

}  // namespace psn
