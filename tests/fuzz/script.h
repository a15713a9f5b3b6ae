// Bytes as a script of what a peer does: every input means something.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "psn/base/numerics.h"
#include "psn/ppx/codec.h"

namespace psn::test {

class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  bool ended() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }

  double number() {
    constexpr std::array kOdd{0.0,  -0.0, 1e9,       -1e9,       0.5,  1e300, 5e-324,
                              -1.0, 2.5,  kInfinity, -kInfinity, kNaN, 1e-308};
    const std::uint8_t b = byte();
    return b < kOdd.size() ? kOdd[b] : (b - 32) / 16.0;
  }

  Value value() {
    const std::uint8_t size = byte() % 6;
    if (size == 0) return {};
    if (size == 1) return number();
    std::vector<double> numbers;
    for (int i = 1; i < size; ++i) numbers.push_back(number());
    return Value(numbers);
  }

  std::string text() {
    constexpr std::array kTexts{"x", "y_0", "y_1", "", "x_18446744073709551615", "a/b_3", "psn 1"};
    return kTexts[byte() % kTexts.size()];
  }

  Distribution distribution() {
    switch (byte() % 11) {
      case 0:
        return Uniform(value(), value());
      case 1:
        return Categorical(value());
      case 2:
        return Poisson(value());
      case 3:
        return Bernoulli(value());
      case 4:
        return Beta(value(), value());
      case 5:
        return Exponential(value());
      case 6:
        return Gamma(value(), value());
      case 7:
        return LogNormal(value(), value());
      case 8:
        return Binomial(value(), value());
      case 9:
        return Weibull(value(), value());
      default:
        return Normal(value(), value());
    }
  }

  ppx::Message message() {
    switch (byte() % 11) {
      case 0:
        return ppx::Handshake{text()};
      case 1:
        return ppx::HandshakeResult{text(), text()};
      case 2:
        return ppx::Run{};
      case 3:
        return ppx::RunResult{value()};
      case 4:
        return ppx::Sample{text(), text(), distribution(), byte() % 2 == 0};
      case 5:
        return ppx::SampleResult{value()};
      case 6: {
        ppx::Observe observe{text(), text(), std::nullopt, value()};
        if (byte() % 4 != 0) observe.distribution = distribution();
        return observe;
      }
      case 7:
        return ppx::ObserveResult{value()};
      case 8:
        return ppx::Tag{text(), text(), value()};
      case 9:
        return ppx::TagResult{};
      default:
        return ppx::Reset{};
    }
  }

  // A message on the wire, one byte of which may be another.
  std::vector<std::byte> bytes(const ppx::Message& message, bool damaged) {
    ppx::Encoder encoder(byte() % 2 == 0 ? ppx::ScalarShape::kNone : ppx::ScalarShape::kOne);
    const auto encoded = encoder.encode(message);
    std::vector<std::byte> result(encoded.begin(), encoded.end());
    if (damaged) {
      const std::size_t place = byte() + 256u * byte();
      result[place % result.size()] ^= std::byte{byte()};
    }
    return result;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace psn::test
