// SPDX-License-Identifier: Apache-2.0
// Reduction of an angle by multiples of pi / 2: the algorithms of fdlibm's e_rem_pio2.c and k_rem_pio2.c
// (Sun Microsystems, 1993 to 2004; the second is Payne and Hanek's).

#pragma once

#include "math_bits.cuh"

namespace millrace {

// angle - quadrant pi / 2, of absolute value at most about pi / 4, as the sum of two doubles.
struct ReducedAngle {
  double high;
  double low;
  int32_t quadrant;
};

// 2 / pi after the point, 24 bits each.
__device__ const int32_t TWO_OVER_PI[] = {
    0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041, 0xFE5163, 0xABDEBB, 0xC561B7,
    0x246E3A, 0x424DD2, 0xE00649, 0x2EEA09, 0xD1921C, 0xFE1DEB, 0x1CB129, 0xA73EE8, 0x8235F5, 0x2EBB44, 0x84E99C,
    0x7026B4, 0x5F7E41, 0x3991D6, 0x398353, 0x39F49C, 0x845F8B, 0xBDF928, 0x3B1FF8, 0x97FFDE, 0x05980F, 0xEF2F11,
    0x8B5A0A, 0x6D1F6D, 0x367ECF, 0x27CB09, 0xB74F46, 0x3F669E, 0x5FEA2D, 0x7527BA, 0xC7EBE5, 0xF17B3D, 0x0739F7,
    0x8A5292, 0xEA6BFB, 0x5FB11F, 0x8D5D08, 0x560330, 0x46FC7B, 0x6BABF0, 0xCFBC20, 0x9AF436, 0x1DA9E3, 0x91615E,
    0xE61B08, 0x659985, 0x5F14A0, 0x68408D, 0xFFD880, 0x4D7327, 0x310606, 0x1556CA, 0x73A8C9, 0x60E27B, 0xC08C6B,
};

// pi / 2 in pieces of 24 bits.
__device__ const double HALF_PI_PIECES[] = {
    1.57079625129699707031e+00, 7.54978941586159635335e-08, 5.39030252995776476554e-15, 3.28200341580791294123e-22,
    1.27065575308067607349e-29, 1.22933308981111328932e-36, 2.73370053816464559624e-44, 2.16741683877804819444e-51,
};

constexpr double TWO_24 = 16777216.0;
constexpr double INVERSE_TWO_24 = 5.96046447753906250000e-08;
constexpr int32_t FIRST_TERMS = 4;  // index of the last term that is always taken
constexpr int32_t MAX_TERMS = 20;

// The product of an angle's 24-bit digits and 2 / pi, of which only what decides the quadrant and the fraction is kept.
class AngleProduct {
 public:
  __device__ AngleProduct(double angle) {
    exponent_ = (high_word(angle) >> 20) - 1046;
    double rest = with_high_word(angle, high_word(angle) - exponent_ * (1 << 20));
    for (int32_t i = 0; i < 2; i++) {
      digits_[i] = static_cast<double>(static_cast<int32_t>(rest));
      rest = (rest - digits_[i]) * TWO_24;
    }
    digits_[2] = rest;
    last_digit_ = 2;
    while (digits_[last_digit_] == 0.0) {
      last_digit_--;
    }
    first_word_ = exponent_ < 3 ? 0 : (exponent_ - 3) / 24;
    scale_ = exponent_ - 24 * (first_word_ + 1);
    for (int32_t i = 0; i <= last_digit_ + FIRST_TERMS; i++) {
      int32_t word = first_word_ - last_digit_ + i;
      words_[i] = word < 0 ? 0.0 : static_cast<double>(TWO_OVER_PI[word]);
    }
    last_ = FIRST_TERMS;
    for (int32_t i = 0; i <= last_; i++) {
      products_[i] = product(i);
    }
  }

  __device__ ReducedAngle reduce() {
    double fraction = split();
    while (fraction == 0.0 && !has_bits_beyond_first_terms()) {
      add_terms();
      fraction = split();
    }
    store(fraction);
    ReducedAngle result = times_half_pi();
    result.quadrant = quadrant_ & 7;
    return result;
  }

 private:
  __device__ double product(int32_t i) {
    double sum = 0.0;
    for (int32_t j = 0; j <= last_digit_; j++) {
      sum += digits_[j] * words_[last_digit_ + i - j];
    }
    return sum;
  }

  // Distills the products into 24-bit pieces and the quadrant; gives what is left of the fraction before them.
  __device__ double split() {
    double z = products_[last_];
    for (int32_t i = 0, j = last_; j > 0; i++, j--) {
      double carry = static_cast<double>(static_cast<int32_t>(INVERSE_TWO_24 * z));
      pieces_[i] = static_cast<int32_t>(z - TWO_24 * carry);
      z = products_[j - 1] + carry;
    }
    z *= power_of_two(scale_);
    z -= 8.0 * floor(z * 0.125);
    quadrant_ = static_cast<int32_t>(z);
    z -= static_cast<double>(quadrant_);
    half_ = 0;
    if (scale_ > 0) {
      int32_t whole = pieces_[last_ - 1] >> (24 - scale_);
      quadrant_ += whole;
      pieces_[last_ - 1] -= whole << (24 - scale_);
      half_ = pieces_[last_ - 1] >> (23 - scale_);
    } else if (scale_ == 0) {
      half_ = pieces_[last_ - 1] >> 23;
    } else if (z >= 0.5) {
      half_ = 2;
    }
    return half_ > 0 ? complement(z) : z;
  }

  // 1 - fraction, for a fraction above one half.
  __device__ double complement(double z) {
    quadrant_++;
    bool borrowed = false;
    for (int32_t i = 0; i < last_; i++) {
      if (borrowed) {
        pieces_[i] = 0xffffff - pieces_[i];
      } else if (pieces_[i] != 0) {
        borrowed = true;
        pieces_[i] = 0x1000000 - pieces_[i];
      }
    }
    if (scale_ > 0) {
      pieces_[last_ - 1] &= scale_ == 1 ? 0x7fffff : 0x3fffff;
    }
    if (half_ == 2) {
      z = 1.0 - z;
      if (borrowed) {
        z -= power_of_two(scale_);
      }
    }
    return z;
  }

  __device__ bool has_bits_beyond_first_terms() {
    for (int32_t i = last_ - 1; i >= FIRST_TERMS; i--) {
      if (pieces_[i] != 0) {
        return true;
      }
    }
    return false;
  }

  __device__ void add_terms() {
    int32_t more = 1;
    while (pieces_[FIRST_TERMS - more] == 0) {
      more++;
    }
    for (int32_t i = last_ + 1; i <= last_ + more; i++) {
      words_[last_digit_ + i] = static_cast<double>(TWO_OVER_PI[first_word_ + i]);
      products_[i] = product(i);
    }
    last_ += more;
  }

  // Appends the fraction to the pieces, or drops trailing pieces that are zero.
  __device__ void store(double fraction) {
    if (fraction == 0.0) {
      last_--;
      scale_ -= 24;
      while (pieces_[last_] == 0) {
        last_--;
        scale_ -= 24;
      }
      return;
    }
    fraction *= power_of_two(-scale_);
    if (fraction >= TWO_24) {
      double carry = static_cast<double>(static_cast<int32_t>(INVERSE_TWO_24 * fraction));
      pieces_[last_] = static_cast<int32_t>(fraction - TWO_24 * carry);
      last_++;
      scale_ += 24;
      pieces_[last_] = static_cast<int32_t>(carry);
    } else {
      pieces_[last_] = static_cast<int32_t>(fraction);
    }
  }

  __device__ ReducedAngle times_half_pi() {
    double unit = power_of_two(scale_);
    for (int32_t i = last_; i >= 0; i--) {
      products_[i] = unit * static_cast<double>(pieces_[i]);
      unit *= INVERSE_TWO_24;
    }
    double sums[MAX_TERMS];
    for (int32_t i = last_; i >= 0; i--) {
      double sum = 0.0;
      for (int32_t k = 0; k <= FIRST_TERMS && k <= last_ - i; k++) {
        sum += HALF_PI_PIECES[k] * products_[i + k];
      }
      sums[last_ - i] = sum;
    }
    double high = 0.0;
    for (int32_t i = last_; i >= 0; i--) {
      high += sums[i];
    }
    double low = sums[0] - high;
    for (int32_t i = 1; i <= last_; i++) {
      low += sums[i];
    }
    return half_ == 0 ? ReducedAngle{high, low, 0} : ReducedAngle{-high, -low, 0};
  }

  double digits_[3];
  double words_[MAX_TERMS];
  double products_[MAX_TERMS];
  int32_t pieces_[MAX_TERMS];
  int32_t exponent_;
  int32_t last_digit_;
  int32_t first_word_;
  int32_t scale_;
  int32_t last_;
  int32_t quadrant_;
  int32_t half_;
};

__device__ __noinline__ ReducedAngle reduce_large_angle(double magnitude) { return AngleProduct(magnitude).reduce(); }

// Cody and Waite's reduction with pi / 2 in up to three parts, for angles up to 2^19 pi / 2.
__device__ inline ReducedAngle reduce_medium_angle(double magnitude) {
  int32_t n = static_cast<int32_t>(magnitude * 6.36619772367581382433e-01 + 0.5);
  double multiple = n;
  double r = magnitude - multiple * 1.57079632673412561417e+00;
  double w = multiple * 6.07710050650619224932e-11;
  double high = r - w;
  // An angle whose leading bits are those of a multiple of pi / 2 loses too many of them to be good for 85 bits.
  if (n >= 32 || high_word(magnitude) == high_word(multiple * 1.57079632679489655800e+00)) {
    int32_t exponent = high_word(magnitude) >> 20;
    if (exponent - ((high_word(high) >> 20) & 0x7ff) > 16) {
      double t = r;
      w = multiple * 6.07710050630396597660e-11;
      r = t - w;
      w = multiple * 2.02226624879595063154e-21 - ((t - r) - w);
      high = r - w;
      if (exponent - ((high_word(high) >> 20) & 0x7ff) > 49) {
        t = r;
        w = multiple * 2.02226624871116645580e-21;
        r = t - w;
        w = multiple * 8.47842766036889956997e-32 - ((t - r) - w);
        high = r - w;
      }
    }
  }
  return {high, (r - high) - w, n};
}

// For pi / 4 < |angle| < infinity.
__device__ inline ReducedAngle reduce_angle(double angle) {
  double magnitude = fabs(angle);
  int32_t high = high_word(magnitude);
  ReducedAngle reduced;
  if (high < 0x4002d97c && high != 0x3ff921fb) {  // |angle| < 3 pi / 4
    double z = magnitude - 1.57079632673412561417e+00;
    reduced.high = z - 6.07710050650619224932e-11;
    reduced.low = (z - reduced.high) - 6.07710050650619224932e-11;
    reduced.quadrant = 1;
  } else if (high < 0x4002d97c) {  // near pi / 2
    double z = (magnitude - 1.57079632673412561417e+00) - 6.07710050630396597660e-11;
    reduced.high = z - 2.02226624879595063154e-21;
    reduced.low = (z - reduced.high) - 2.02226624879595063154e-21;
    reduced.quadrant = 1;
  } else {
    reduced = high <= 0x413921fb ? reduce_medium_angle(magnitude) : reduce_large_angle(magnitude);
  }
  return angle < 0.0 ? ReducedAngle{-reduced.high, -reduced.low, -reduced.quadrant} : reduced;
}

}  // namespace millrace
