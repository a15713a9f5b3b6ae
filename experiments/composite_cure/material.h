// What the part is made of: Hexcel AS4/8552 on a metal tool. Temperatures in C, else SI units.
//
// Cure kinetics: Hubert et al. 2001; Johnston 1997. Thermal properties of the laminate: Johnston
// 1997 with standard values for AS4/8552; its conductivity across the fibres by Springer and Tsai
// 1967.
#pragma once

#include <array>

namespace psn::composite_cure {

inline constexpr double kKelvin = 273.15;
inline constexpr double kGasConstant = 8.314;

// da/dt = A exp(-E / RT) a^m (1 - a)^n / (1 + exp(C (a - (aC0 + aCT T)))), T in K.
struct Kinetics {
  double A = 1.528e5, E = 66'500, m = 0.8129, n = 2.7360;
  double C = 43.09, aC0 = -1.6840, aCT = 5.475e-3;
};

// The tool's: constant.
struct Metal {
  double density, heat_capacity, conductivity;
};
inline constexpr Metal kInvar{8150, 510, 13.0};
inline constexpr Metal kSteel{7850, 475, 45};
inline constexpr Metal kAluminium{2700, 896, 167};

// a + b T, and c times the degree of cure.
struct Linear {
  double at_zero = 0, by_temperature = 0, by_cure = 0;
  double operator()(double temperature, double cure = 0) const {
    return at_zero + by_temperature * temperature + by_cure * cure;
  }
};

struct Laminate {
  Kinetics kinetics;
  double fibre_volume = 0.574;
  double fibre_density = 1790, resin_density = 1300;
  double reaction_heat = 5.40e5;  // J per kg of resin
  double start_of_cure = 0.05;
  Linear fibre_heat_capacity{750, 2.05}, resin_heat_capacity{1005, 3.74};
  Linear resin_conductivity{0.148, 3.43e-4, 6.07e-2};
  double fibre_conductivity = 3.960;         // across the fibre
  Linear conductivity_along{4.49, 9.12e-3};  // of the laminate, along its fibres

  double density() const {
    return fibre_volume * fibre_density + (1 - fibre_volume) * resin_density;
  }
  // By mass.
  Linear heat_capacity() const;
  // What complete cure would release, per volume.
  double heat_of_cure() const { return (1 - fibre_volume) * resin_density * reaction_heat; }
};

// Conductivity across the fibres, of resin and fibres in a square array.
double springer_tsai(double resin, double fibre, double fibre_volume);

// The same for one laminate as a polynomial in the resin's conductivity: a root and an arcus
// tangens less at every element and time step. Within 1e-7 of it from 0.1 to 0.35 W/mK.
class TransverseConductivity {
 public:
  explicit TransverseConductivity(const Laminate& laminate);
  double operator()(double temperature, double cure) const {
    const double x = (resin_(temperature, cure) - kMiddle) / kHalfWidth;
    double sum = 0;
    for (std::size_t k = kTerms; k-- > 0;) sum = sum * x + coefficients_[k];
    return sum;
  }

 private:
  static constexpr double kMiddle = 0.225, kHalfWidth = 0.125;
  static constexpr std::size_t kTerms = 6;
  Linear resin_;
  std::array<double, kTerms> coefficients_{};
};

}  // namespace psn::composite_cure
