#include "psn/nn/heads/proposal.h"

#include "psn/nn/heads/proposal_parts.h"

namespace psn {
namespace {

using namespace proposals;

double mixture_log_prob(const ProposalType& type, const Distribution& p, const float* outputs,
                        const Value& x, double log_p, float* gradient) {
  const std::size_t k = type.mixture, n = type.size;
  const ModelComponents bases(type.kind, p);
  const auto free = free_coordinates(p, x);
  const std::span<const double> at = free ? free->u : x.components();
  std::vector<double> logits(outputs, outputs + k + 1), log_terms(k + 1);
  std::vector<double> by_output(gradient ? type.outputs() : 0);
  const double log_z = log_sum_exp(logits);
  log_terms[0] = logits[0] - log_z + log_p;
  for (std::size_t c = 0; c < k; ++c) {
    double& log_term = log_terms[c + 1];
    log_term = logits[c + 1] - log_z + (free ? free->log_volume : 0);
    Regression regression(type, bases, outputs, c);
    for (std::size_t i = 0; i < n; ++i) {
      const NormalPart part = regression.given_those_before(i);
      const Term term = log_prob(type.kind, part, bases[i], at[i]);
      log_term += term.value;
      if (gradient) regression.add_slopes(i, part, term, by_output);
      regression.take(i, at[i]);
    }
  }
  const double log_q = log_sum_exp(log_terms);
  if (!gradient) return log_q;
  for (std::size_t c = 0; c <= k; ++c) {
    const double share = std::exp(log_terms[c] - log_q);
    gradient[c] = static_cast<float>(std::exp(logits[c] - log_z) - share);
    if (c == 0) continue;
    const auto write = [&](std::size_t first, std::size_t count) {
      for (std::size_t o = first; o < first + count; ++o) {
        gradient[o] = share > 0 ? static_cast<float>(-share * by_output[o]) : 0.0f;
      }
    };
    write(part_place(type, c - 1, 0), 2 * n);
    write(slope_place(type, c - 1, 1), slopes(type));
  }
  return log_q;
}

Value mixture_draw(const ProposalType& type, const Distribution& p, const float* outputs,
                   Rng& rng) {
  const std::size_t k = type.mixture;
  const float largest = *std::max_element(outputs, outputs + k + 1);
  double total = 0;
  for (std::size_t c = 0; c <= k; ++c) total += std::exp(outputs[c] - largest);
  double left = rng.uniform() * total;
  std::size_t chosen = 0;
  for (; chosen < k; ++chosen) {
    left -= std::exp(outputs[chosen] - largest);
    if (left < 0) break;
  }
  if (chosen == 0) return p.draw(rng);
  const ModelComponents bases(type.kind, p);
  Regression regression(type, bases, outputs, chosen - 1);
  std::vector<double> x(type.size);
  for (std::size_t i = 0; i < type.size; ++i) {
    x[i] = draw(type.kind, regression.given_those_before(i), bases[i], rng);
    regression.take(i, x[i]);
  }
  if (degrees_of_freedom(p.family(), p.size())) return value_at(p, x);
  return p.is_scalar() ? Value(x[0]) : Value(std::move(x), p.shape());
}

// Calls visit(row, weights) with the probabilities of each component, tilted by the outputs.
template <class Visit>
void each_tilted(const ProposalType& type, const Distribution& p, const float* outputs,
                 Visit visit) {
  const std::size_t k = type.categories;
  std::vector<double> weights(k);
  for (std::size_t row = 0; row < type.size; ++row) {
    const float* o = outputs + row * k;
    const double largest = *std::max_element(o, o + k);
    const auto prior = [&](std::size_t c) {
      if (const auto* d = std::get_if<Categorical>(&p.variant())) return d->probs[row * k + c];
      const double one = component_of(std::get<Bernoulli>(p.variant()).parameters[0], row);
      return c == 1 ? one : 1 - one;
    };
    double total = 0;
    for (std::size_t c = 0; c < k; ++c) total += weights[c] = prior(c) * std::exp(o[c] - largest);
    if (!(total > 0)) {  // only what the outputs all but exclude is possible
      for (std::size_t c = 0; c < k; ++c) total += weights[c] = prior(c);
    }
    for (double& w : weights) w /= total;
    visit(row, weights);
  }
}

}  // namespace

float in_units_of(const Distribution& p, double x) {
  const Domain domain = info(p.family()).domain;
  constexpr double kFar = 10;
  const bool category = domain == Domain::kCategory;
  const ModelComponent unit = category ? ModelComponent{p.mean()[0], std::sqrt(p.variance()[0])}
                                       : ModelComponents(domain, p)[0];
  const double at = domain == Domain::kPositive ? std::log(x) : x;
  return static_cast<float>(
      std::clamp((at - unit.location) / positive_or(unit.scale, 1), -kFar, kFar));
}

bool has_proposal(const Distribution& p) {
  return !(p.family() == family_of<Mixture> && (p.discrete() || p.on_simplex()));
}

ProposalType proposal_type(const ValueType& value, std::size_t mixture) {
  const Domain kind = info(value.family).domain;
  if (kind == Domain::kCategory) {
    const bool two = value.family == family_of<Bernoulli>;
    return {kind, value.components(), two ? 2 : value.categories, 0};
  }
  const auto freedom = degrees_of_freedom(value.family, value.components());
  return {kind, freedom.value_or(value.components()), 0, mixture};
}

std::size_t ProposalType::outputs() const {
  if (sequential) return size * of_component().outputs();
  return kind == Domain::kCategory ? size * categories
                                   : 1 + mixture * (1 + 2 * size + slopes(*this));
}

double proposal_log_prob(const ProposalType& type, const Distribution& p, const float* outputs,
                         const Value& x, double log_p, float* gradient) {
  if (type.kind != Domain::kCategory) {
    return mixture_log_prob(type, p, outputs, x, log_p, gradient);
  }
  double log_q = 0;
  each_tilted(type, p, outputs, [&](std::size_t row, const std::vector<double>& weights) {
    const auto drawn = static_cast<std::size_t>(x[row]);
    log_q += std::log(weights[drawn]);
    if (!gradient) return;
    for (std::size_t c = 0; c < weights.size(); ++c) {
      gradient[row * weights.size() + c] = static_cast<float>(weights[c] - (c == drawn));
    }
  });
  return log_q;
}

Value proposal_draw(const ProposalType& type, const Distribution& p, const float* outputs,
                    Rng& rng) {
  if (type.kind != Domain::kCategory) return mixture_draw(type, p, outputs, rng);
  std::vector<double> drawn(type.size);
  each_tilted(type, p, outputs, [&](std::size_t row, const std::vector<double>& weights) {
    double left = rng.uniform();
    std::size_t last = 0;  // with positive probability: rounding never leads past it
    for (std::size_t c = 0; c < weights.size(); ++c) {
      if (weights[c] > 0) last = c;
      left -= weights[c];
      if (left < 0) break;
    }
    drawn[row] = static_cast<double>(last);
  });
  return p.is_scalar() ? Value(drawn[0]) : Value(std::move(drawn), p.shape());
}

}  // namespace psn
