// Proposals: what an inference network draws a latent variable from (the paper's Section 2.2), one
// kind for each sort of support (Domain). All are relative to the model's own distribution p at
// that moment, its location, scale and support, so that they follow where it goes:
//
//   real line      mixture of Normals, with covariances for vectors of up to 32 components
//   interval       mixture of Normals truncated to it
//   half-line      mixture of LogNormals
//   integers       mixture of truncated Normals, rounded
//   categories     p times exp(output), normalised
//   simplex        mixture of Normals over log odds, with covariances likewise
//
// Where components hang together, these Normals are over free coordinates under p
// (psn/core/free_coordinates.h), and the density has their volume as a factor.
//
// Mixtures are over whole values and have p itself as one more component: what the others cannot
// imitate - a tail, a pole at the end of an interval - p covers.
#pragma once

#include <cstdint>

#include "psn/core/distribution.h"
#include "psn/nn/heads/head.h"

namespace psn {

// Not for a mixture of discrete distributions, or on the simplex: it is left to the model.
bool has_proposal(const Distribution& p);

struct ProposalType {
  Domain kind = Domain::kReal;
  std::size_t size = 1;        // components of a value, or its degrees of freedom
  std::size_t categories = 0;  // of kCategory
  std::size_t mixture = 0;     // components of the others, p not counted
  // Component by component: the outputs of each are those of a number, and may depend on the
  // components before it.
  bool sequential = false;

  std::size_t outputs() const;
  // Of one component of a sequential one.
  ProposalType of_component() const { return {kind, 1, categories, mixture, false}; }
};

ProposalType proposal_type(const ValueType& value, std::size_t mixture);

// A value as what is proposed after it sees it: in units of the model's own distribution p.
float in_units_of(const Distribution& p, double x);

// log q(x) for raw outputs of a network; `log_p` is log p(x). With `gradient`: that of -log q(x)
// with respect to the outputs.
double proposal_log_prob(const ProposalType& type, const Distribution& p, const float* outputs,
                         const Value& x, double log_p, float* gradient = nullptr);
Value proposal_draw(const ProposalType& type, const Distribution& p, const float* outputs,
                    Rng& rng);

}  // namespace psn
