// Folders of made-up results, as commands write them that take too long for a test:
//   node folders.js FOLDER
// docs/formats/evidence.md has the keys of the first three.
"use strict";
const fs = require("fs");
const path = require("path");
const root = process.argv[2];

function write(folder, name, content) {
  fs.mkdirSync(path.join(root, folder), { recursive: true });
  fs.writeFileSync(path.join(root, folder, name), typeof content === "string" ? content : JSON.stringify(content));
}

const range = (n, f) => Array.from({ length: n }, (_, i) => f(i));
const csv = (head, rows) => [head, ...rows.map((row) => row.join(","))].join("\n") + "\n";
// A number that looks random and is the same every time.
const noise = (i) => Math.sin(12.9898 * i + 4.1) * Math.cos(78.233 * i);

const curve = (shift) => ({
  count: 500, z: range(99, (i) => (i + 1) / 100),
  difference: range(99, (i) => shift * Math.sin(Math.PI * (i + 1) / 100) + 0.01 * noise(i)),
  low: range(99, (i) => -0.12 * Math.sqrt((i + 1) / 100 * (1 - (i + 1) / 100)) - 0.005),
  high: range(99, (i) => 0.12 * Math.sqrt((i + 1) / 100 * (1 - (i + 1) / 100)) + 0.005),
  p_value: 0.3, adjusted_p_value: 1, outside: shift > 0.1,
});
const evidence = (kind, more) => ({
  kind, model: "control-flow", seed: 0, passed: false, false_alarm_rate: 0.01, tolerance: 0.02,
  reasons: ["theta: its values are not the simulator's (adjusted p 2e-8)"],
  tests: [{ test: "pit", what: "theta", p_value: 1e-9, adjusted_p_value: 2e-8, failed: true },
    { test: "kl", what: "", p_value: 0.4, adjusted_p_value: 1, failed: false }],
  ...more,
});

write("validation", "summary.json", evidence("validation", {
  surrogate: "s.psn", traces: 10000, kl: { nats_per_trace: 0.2, standard_error: 0.01, most: 0.05, values: 0.15, transitions: 0.05 },
  unknown_mass: 1e-4, most_unknown_mass: 0.01, unseen_traces: 0, path_total_variation: 0.02,
  speed: { simulator: 100, surrogate: 50000, ratio: 500 }, classifier: { accuracy: 0.61, most: 0.54, rows: 10000, columns: ["theta"] },
  addresses: [
    { address: "theta__Beta__1", visits: 10000, value_kl: 0.1, transition_kl: 0, closed_form: true, pit: curve(0.2), density: null },
    { address: "c_0__Categorical(len_probs:2)__1", visits: 10000, value_kl: 0.01, transition_kl: 0.001, closed_form: true, pit: curve(0), density: curve(0) },
    { address: "x__Normal__1", visits: 10000, value_kl: 0.001, transition_kl: 0, closed_form: true, pit: null, density: null }],
  transitions: [{ from: "c_0", to: "x", departures: 10000, simulator: 0.7, surrogate: 0.3, p_value: 1e-9, adjusted_p_value: 2e-8, failed: true }],
}));
write("calibration", "summary.json", evidence("calibration", {
  network: "q.psn", surrogate: null, engine: "ic", datasets: 300, draws: 1000,
  latents: ["mu", "sigma"].map((name, k) => ({
    name, datasets: 300, ranks: curve(0.15 * k), coverage: curve(0),
    z_score: range(300, (i) => 1.3 * noise(i + k)), contraction: range(300, (i) => 0.8 + 0.1 * noise(2 * i + k)),
  })),
  tarp: curve(0), ess: range(300, (i) => 800 + 150 * noise(i)), khat: range(300, (i) => (i % 7 ? 0.3 + 0.2 * noise(i) : null)),
  khat_threshold: 0.67, least_ess: 100, unreliable: 0, most_unreliable: 0.1,
}));
write("criticism", "summary.json", evidence("criticism", {
  engine: "is", network: null, replicates: 300, draws: 2000, ess: 410, khat: 0.3, p_value: 0.0033, false_discovery_rate: 0.05,
  observations: [{ name: "obs", sites: 16, surprise: 2.1, usual_surprise: { q05: 1.4, q50: 1.6, q95: 1.9 }, p_value: 0.0033, q_value: 0.0033, blamed: true }],
  sites: range(16, (i) => ({
    address: `obs_${i}`, name: `obs_${i}`, component: null, value: i === 5 ? 9.5 : noise(i), predicted: { q05: -1.9, q50: 0.1, q95: 2 },
    pit: 0.5, surprise: i === 5 ? 31 : 1.5 + 0.2 * noise(i), usual_surprise: { q05: 1, q50: 1.4, q95: 2.9 },
    p_value: i === 5 ? 0.0033 : 0.5, q_value: i === 5 ? 0.0005 : 0.6, blamed: i === 5,
  })),
}));

// The third experiment.
const row = { mean: 181.2, sd: 1.4, ess: 900, standard_error: 0.05, samples: 1000 };
const parts = ["minus", "nominal", "plus"], engines = ["SIS, prior proposal", "IC in simulator", "IC in surrogate"];
write("cure", "results.json", {
  kind: "experiment", preset: "default", seed: 0, quick: true, stored_traces: 200000,
  table1: Object.fromEntries(parts.map((name) => [name, { gt: row, ic_simulator: row, ic_surrogate: row }])),
  traces_per_second: { simulator_1d: 300, surrogate: 9000 }, times_faster: { generation_1d: 30 },
  field_rmse: 0.2, field_max: 1.1, sensor_rmse: 0.1,
});
const [times, depths] = [64, 20];
const place = (i) => [5 * (Math.floor(i / depths) % times + 1), 2.5 * (i % depths)];
write("cure", "field.csv", csv("minutes,depth_mm,expected_squared_difference",
  range(times * depths, (i) => [...place(i), 0.02 + 0.02 * noise(i)])));
write("cure", "field_samples.csv", csv("sample,minutes,depth_mm,simulator,surrogate",
  range(3 * times * depths, (i) => {
    const [sample, [minutes, depth]] = [Math.floor(i / (times * depths)), place(i)];
    const warm = 20 + (150 + 10 * sample) / (1 + Math.exp(-(minutes / 5 - 25 + depth / 10) / 5));
    return [sample + 1, minutes, depth, warm.toFixed(2), (warm + 0.2 * noise(i)).toFixed(2)];
  })));
write("cure", "mu_w.csv", csv("observed,engine,mu_w",
  range(900, (i) => [parts[i % 3], `"${engines[Math.floor(i / 3) % 3]}"`, 175 + 6 * (i % 3) + 1.5 * noise(i)])));
const learning = (names, f) => csv("line,x,y", names.flatMap((name, k) => range(30, (i) => [name, 1000 * (i + 1), f(i, k)])));
write("cure", "learning_surrogate.csv", learning(["training", "validation"], (i, k) => 50 / (i + 1) + 0.2 * k));
write("cure", "learning_inference.csv", learning(["training", "validation"], (i, k) => 40 - 5 * Math.log(i + 1) + 0.2 * k));
write("cure", "tuning.csv", learning(["from the 1D surrogate", "from nothing"], (i, k) => (1 + 4 * k) / (i + 1)));

// A program of a thousand addresses.
write("large-graph", "transitions.json", {
  kind: "graph", traces: 100000,
  transitions: range(1000, (i) => i).flatMap((i) => [[i + 1, 0.8], [(7 * i) % 1000, 0.2]].map(([to, probability]) => (
    { from: i ? `step_${i}` : "begin-execution", to: to < 1000 ? `step_${to}` : "end-execution", count: 1000, probability }))),
});
