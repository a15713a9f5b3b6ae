// The families: one header each, and this list. A family is known by its kId, so its place in the
// list means nothing.
#pragma once

#include <variant>

#include "psn/core/families/bernoulli.h"
#include "psn/core/families/beta.h"
#include "psn/core/families/binomial.h"
#include "psn/core/families/categorical.h"
#include "psn/core/families/dirichlet.h"
#include "psn/core/families/exponential.h"
#include "psn/core/families/gamma.h"
#include "psn/core/families/geometric.h"
#include "psn/core/families/laplace.h"
#include "psn/core/families/log_normal.h"
#include "psn/core/families/mixture.h"
#include "psn/core/families/multivariate_normal.h"
#include "psn/core/families/negative_binomial.h"
#include "psn/core/families/normal.h"
#include "psn/core/families/poisson.h"
#include "psn/core/families/student_t.h"
#include "psn/core/families/truncated_normal.h"
#include "psn/core/families/uniform.h"
#include "psn/core/families/weibull.h"

namespace psn {

using Families = std::variant<  //
    Normal,                     //
    Uniform,                    //
    Categorical,                //
    Poisson,                    //
    Bernoulli,                  //
    Beta,                       //
    Exponential,                //
    Gamma,                      //
    LogNormal,                  //
    Binomial,                   //
    Weibull,                    //
    TruncatedNormal,            //
    StudentT,                   //
    NegativeBinomial,           //
    Geometric,                  //
    Laplace,                    //
    Dirichlet,                  //
    MultivariateNormal,         //
    Mixture>;

}  // namespace psn
