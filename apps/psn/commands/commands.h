// The commands of psn. Each adds itself to the program and runs when chosen on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace psn::app {

void add_models_command(CLI::App& program);
void add_simulate_command(CLI::App& program);
void add_infer_command(CLI::App& program);
void add_predict_command(CLI::App& program);
void add_graph_command(CLI::App& program);
void add_exact_command(CLI::App& program);
void add_inspect_command(CLI::App& program);
void add_doctor_command(CLI::App& program);
void add_train_command(CLI::App& program);
void add_serve_command(CLI::App& program);
void add_compare_command(CLI::App& program);
void add_validate_command(CLI::App& program);
void add_calibrate_command(CLI::App& program);
void add_criticise_command(CLI::App& program);
void add_evidence_command(CLI::App& program);
void add_data_command(CLI::App& program);
void add_experiment_command(CLI::App& program);
void add_zoo_command(CLI::App& program);
void add_import_command(CLI::App& data);
void add_report_command(CLI::App& program);
void add_summary_command(CLI::App& program);
void add_diagnose_command(CLI::App& program);
void add_export_command(CLI::App& program);
void add_attach_command(CLI::App& program);
void add_watch_command(CLI::App& program);
void add_completion_command(CLI::App& program);
void add_man_command(CLI::App& program);

}  // namespace psn::app
