// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import java.util.Optional;

/** Bindings of functions with a literal date and time pattern. */
final class PatternBinding {
  static final String HOST_PATTERN =
      "the pattern has letters other than yyyy, yy, M, d, H, m, s and S, or other repetitions of"
          + " them";

  private PatternBinding() {}

  /** Starts a binding that is written {@code NAME(value, 'pattern')}. */
  static BoundFunction.Builder named(String name, String pattern) {
    return BoundFunction.named(name)
        .sql(operands -> name + "(" + operands.get(0) + ", '" + pattern + "')");
  }

  /**
   * Sets the device function that formats with the pattern.
   *
   * @param plain the pattern; empty if the device does not support it
   * @param table offsets of the zone by instant
   */
  static void formatOnDevice(
      BoundFunction.Builder function,
      String device,
      Optional<DateTimePattern> plain,
      ZoneOffsetTable table) {
    if (plain.isPresent()) {
      function
          .scratch(ResultSizeLimit.constant(plain.get().maximumBytes()))
          .device(DeviceFunction.call(device, plain.get().toBytes(table)));
    } else {
      function.hostOnly(HOST_PATTERN);
    }
  }

  /**
   * Sets the device function that parses with the pattern.
   *
   * @param plain the pattern; empty if the device does not support it
   * @param table offsets of the zone by local time
   */
  static void parseOnDevice(
      BoundFunction.Builder function,
      String device,
      Optional<DateTimePattern> plain,
      ZoneOffsetTable table) {
    Optional<DateTimePattern> readable = plain.filter(DateTimePattern::isReadable);
    if (readable.isPresent()) {
      function.device(DeviceFunction.call(device, readable.get().toBytes(table)));
    } else {
      function.hostOnly("the pattern has fields of variable width");
    }
  }
}
