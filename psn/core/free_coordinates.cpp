#include "psn/core/free_coordinates.h"

#include "psn/core/families/joint.h"

namespace psn {

std::optional<std::size_t> degrees_of_freedom(Family family, std::size_t components) {
  return with_family(family, [&]<class D>() -> std::optional<std::size_t> {
    if constexpr (IsJoint<D>) return D::JointKernel::freedom(components);
    return std::nullopt;
  });
}

std::optional<FreeCoordinates> free_coordinates(const Distribution& distribution, const Value& x) {
  return std::visit(
      [&]<class D>(const D& d) -> std::optional<FreeCoordinates> {
        if constexpr (IsJoint<D>) {
          FreeCoordinates result{std::vector<double>(D::JointKernel::freedom(x.size())), 0};
          result.log_volume = D::JointKernel::free(numbers_of(d), x.components(), result.u);
          return result;
        }
        return std::nullopt;
      },
      distribution.variant());
}

Value value_at(const Distribution& distribution, std::span<const double> u) {
  return std::visit(
      [&]<class D>(const D& d) -> Value {
        if constexpr (IsJoint<D>) {
          return written(d, [&](auto x) { D::JointKernel::bind(numbers_of(d), u, x); });
        }
        return Value(u);
      },
      distribution.variant());
}

}  // namespace psn
