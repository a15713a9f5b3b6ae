#include "psn/core/families/multivariate_normal.h"

#include <vector>

namespace psn {
namespace family {
namespace {

// A lower triangle, by row and column.
class Triangle {
 public:
  explicit Triangle(Numbers rows) : rows_(rows.data()) {}
  const double* operator[](std::size_t i) const { return rows_ + row_of_triangle(i); }

  double log_determinant(std::size_t n) const {
    LogProduct product;
    for (std::size_t i = 0; i < n; ++i) product.multiply((*this)[i][i]);
    return product.value();
  }
  // L^-1 x in the place of x, and L'^-1 x.
  void solve(NumbersOut x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double* row = (*this)[i];
      for (std::size_t j = 0; j < i; ++j) x[i] -= row[j] * x[j];
      x[i] /= row[i];
    }
  }
  void solve_transposed(NumbersOut x) const {
    for (std::size_t i = x.size(); i-- > 0;) {
      const double* row = (*this)[i];
      x[i] /= row[i];
      for (std::size_t j = 0; j < i; ++j) x[j] -= row[j] * x[i];
    }
  }

 private:
  const double* rows_;
};

std::vector<double> difference(Numbers a, Numbers b) {
  std::vector<double> result(a.begin(), a.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= b[i];
  return result;
}

double square(Numbers x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum;
}

// The columns of L_q^-1 L_p: what p's standard normals are in terms of q's.
std::vector<std::vector<double>> relative_columns(const Triangle& p, const Triangle& q,
                                                  std::size_t n) {
  std::vector<std::vector<double>> columns(n, std::vector<double>(n));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) columns[j][i] = p[i][j];
    q.solve(columns[j]);
  }
  return columns;
}

// by[i][j] += w_i z_j, on and below the diagonal.
void add_product(Numbers w, Numbers z, NumbersOut by) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) by[row_of_triangle(i) + j] += w[i] * z[j];
  }
}

// The derivative of -log det L.
void begin_score(const Triangle& lower, std::size_t n, NumbersOut by) {
  std::fill(by.begin(), by.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) by[row_of_triangle(i) + i] = -1 / lower[i][i];
}

// The same law with the components that are there first, so that the others follow from them: the
// rows of L in another order, made a triangle again by rotations from the right.
struct PresentFirst {
  PresentFirst(const MultivariateNormal::P& p, Numbers x) {
    const auto take = [&](bool there) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i]) != there) order.push_back(i);
      }
    };
    take(true);
    present = order.size();
    take(false);
    const Triangle lower(p[1]);
    rows.assign(x.size(), std::vector<double>(x.size()));
    for (std::size_t k = 0; k < x.size(); ++k) {
      std::copy_n(lower[order[k]], order[k] + 1, rows[k].begin());
    }
    for (std::size_t k = 0; k < x.size(); ++k) {
      for (std::size_t j = k + 1; j < x.size(); ++j) rotate(k, j);
    }
    for (std::size_t k = 0; k < present; ++k) {  // its standard normals
      double rest = x[order[k]] - p[0][order[k]];
      for (std::size_t j = 0; j < k; ++j) rest -= rows[k][j] * z[j];
      z.push_back(rest / rows[k][k]);
    }
  }

  // Columns k and j, so that row k is zero in j.
  void rotate(std::size_t k, std::size_t j) {
    if (rows[k][j] == 0) return;
    const double length = std::hypot(rows[k][k], rows[k][j]);
    const double c = rows[k][k] / length, s = rows[k][j] / length;
    for (std::size_t i = k; i < rows.size(); ++i) {
      const double a = rows[i][k], b = rows[i][j];
      rows[i][k] = c * a + s * b;
      rows[i][j] = c * b - s * a;
    }
  }

  std::vector<std::size_t> order;
  std::size_t present = 0;
  std::vector<std::vector<double>> rows;
  std::vector<double> z;  // of the components that are there
};

}  // namespace

void MultivariateNormal::draw(const P& p, Rng& rng, NumbersOut x) {
  std::vector<double> z(x.size());
  rng.normals(z);
  bind(p, z, x);
}

double MultivariateNormal::log_prob(const P& p, Numbers x) {
  std::vector<double> z(x.size());
  const double log_volume = free(p, x, z);
  return log_volume - 0.5 * square(z) - static_cast<double>(x.size()) * kLogSqrt2Pi;
}

void MultivariateNormal::mean(const P& p, NumbersOut m) {
  std::copy(p[0].begin(), p[0].end(), m.begin());
}

void MultivariateNormal::variance(const P& p, NumbersOut v) {
  const Triangle lower(p[1]);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = square({lower[i], i + 1});
}

double MultivariateNormal::kl(const P& p, const P& q) {
  const Triangle from(p[1]), to(q[1]);
  const std::size_t n = p[0].size();
  std::vector<double> apart = difference(p[0], q[0]);
  to.solve(apart);
  double sum = square(apart) - static_cast<double>(n);
  for (const auto& column : relative_columns(from, to, n)) sum += square(column);
  return 0.5 * sum + to.log_determinant(n) - from.log_determinant(n);
}

void MultivariateNormal::score(const P& p, Numbers x, const ListsOut<2>& by) {
  const Triangle lower(p[1]);
  std::vector<double> z(x.size());
  free(p, x, z);
  std::copy(z.begin(), z.end(), by[0].begin());
  lower.solve_transposed(by[0]);
  begin_score(lower, x.size(), by[1]);
  add_product(by[0], z, by[1]);
}

// Of the quadratic form only E z and E z z' are needed, where z are q's standard normals.
void MultivariateNormal::expected_score(const P& p, const P& q, const ListsOut<2>& by) {
  const Triangle from(p[1]), to(q[1]);
  const std::size_t n = p[0].size();
  begin_score(to, n, by[1]);
  const auto add = [&](const std::vector<double>& z) {
    std::vector<double> w = z;
    to.solve_transposed(w);
    add_product(w, z, by[1]);
    return w;
  };
  std::vector<double> apart = difference(p[0], q[0]);
  to.solve(apart);
  const auto by_mean = add(apart);
  std::copy(by_mean.begin(), by_mean.end(), by[0].begin());
  for (const auto& column : relative_columns(from, to, n)) add(column);
}

double MultivariateNormal::log_prob_of_present(const P& p, Numbers x) {
  const PresentFirst split(p, x);
  double sum = -0.5 * square(split.z) - static_cast<double>(split.present) * kLogSqrt2Pi;
  for (std::size_t k = 0; k < split.present; ++k) sum -= std::log(std::abs(split.rows[k][k]));
  return sum;
}

void MultivariateNormal::fill(const P& p, NumbersOut x, Rng& rng) {
  PresentFirst split(p, x);
  for (std::size_t k = split.present; k < x.size(); ++k) {
    split.z.push_back(rng.normal());
    const std::size_t i = split.order[k];
    x[i] = p[0][i];
    for (std::size_t j = 0; j <= k; ++j) x[i] += split.rows[k][j] * split.z[j];
  }
}

double MultivariateNormal::free(const P& p, Numbers x, NumbersOut u) {
  const Triangle lower(p[1]);
  for (std::size_t i = 0; i < x.size(); ++i) u[i] = x[i] - p[0][i];
  lower.solve(u);
  return -lower.log_determinant(x.size());
}

void MultivariateNormal::bind(const P& p, Numbers u, NumbersOut x) {
  const Triangle lower(p[1]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = p[0][i];
    for (std::size_t j = 0; j <= i; ++j) x[i] += lower[i][j] * u[j];
  }
}

}  // namespace family

namespace {

bool has_rows_for(const Value& mean, const Value& matrix) {
  return matrix.rank() == 2 && matrix.last_extent() == mean.size() &&
         matrix.size() == mean.size() * mean.size();
}

bool is_symmetric(const Value& matrix) {
  constexpr double kRounding = 1e-9;
  const std::size_t n = matrix.last_extent();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = matrix[i * n + j], b = matrix[j * n + i];
      if (!(std::abs(a - b) <= kRounding * (std::abs(a) + std::abs(b)))) return false;
    }
  }
  return true;
}

std::vector<double> lower_part(const Value& matrix) {
  const std::size_t n = matrix.last_extent();
  std::vector<double> rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.insert(rows.end(), matrix.data() + i * n, matrix.data() + i * n + i + 1);
  }
  return rows;
}

// Cholesky's factor in the place of a symmetric matrix; false if it has none.
bool factorise(std::vector<double>& rows, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* row = &rows[family::row_of_triangle(i)];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = &rows[family::row_of_triangle(j)];
      for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * other[k];
      if (j < i) row[j] /= other[j];
    }
    if (!(row[i] > 0)) return false;
    row[i] = std::sqrt(row[i]);
  }
  return true;
}

}  // namespace

MultivariateNormal::MultivariateNormal(Value mean, const Value& covariance)
    : Joint(Values{std::move(mean), covariance}) {
  if (!has_rows_for(parameters[0], covariance)) {
    flaw = "covariance must be a matrix with a row and a column for each component of mean";
  } else if (!is_symmetric(covariance)) {
    flaw = "covariance must be symmetric and finite";
  } else {
    std::vector<double> rows = lower_part(covariance);
    if (factorise(rows, covariance.last_extent())) {
      parameters[1] = Value(rows);
    } else {
      flaw = "covariance must be positive definite";
    }
  }
}

MultivariateNormal MultivariateNormal::from_cholesky(Value mean, const Value& lower) {
  MultivariateNormal result(Values{std::move(mean), lower});
  if (!has_rows_for(result.parameters[0], lower)) {
    result.flaw = "cholesky must be a matrix with a row and a column for each component of mean";
    return result;
  }
  const std::size_t n = lower.last_extent();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (lower[i * n + j] != 0) result.flaw = "cholesky must be zero above the diagonal";
    }
  }
  if (!result.flaw) result.parameters[1] = Value(lower_part(lower));
  return result;
}

}  // namespace psn
