// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A {@link org.apache.flink.table.functions.ScalarFunction} that has, beside {@code eval}, the same
 * function in CUDA, which becomes a part of the kernel of the Calc that calls it. It is registered
 * by {@code CREATE FUNCTION} as any other. Without a GPU, and without Millrace's planner hook,
 * {@code eval} runs.
 *
 * <p>The device function has the calling convention of {@code cuda/function/function.cuh}, and the
 * parameters of {@code eval}: BOOLEAN, integers up to 32 bits, DATE and TIME are {@code int32_t},
 * BIGINT and TIMESTAMP(0..6) {@code int64_t}, STRING is {@code const char*, int32_t}. Where an
 * argument is null its result is dropped; it may be called there with any value, and must not
 * crash. It must give the bits that {@code eval} gives.
 *
 * <p>EXPLAIN says why a call runs {@code eval} on the host: its result is a STRING or BINARY, it
 * has nested arguments, or {@code eval} is to be asked about nulls.
 */
@PublicEvolving
public interface DeviceFunction {
  /** The name of the function in the PTX, which no function of Millrace has. */
  String deviceFunction();

  /**
   * The PTX of the function and of everything that it calls, compiled by {@code nvcc -ptx -rdc=true
   * -arch=compute_80 -fmad=false}. Asked for when a query is planned.
   */
  String ptx();

  /**
   * Whether {@code eval} gives null if an argument is null, so that it need not be asked. Otherwise
   * a call whose arguments may be null runs on the host. Without effect if the result of {@code
   * eval} is NOT NULL, as a primitive is.
   */
  default boolean nullForNull() {
    return false;
  }

  /**
   * Whether the device function returns an {@code Outcome}, because it may give null or fail for
   * arguments that are not null, as {@code eval} does. Otherwise it returns a value.
   */
  default boolean returnsOutcome() {
    return false;
  }

  /**
   * The text of a resource, for {@link #ptx}.
   *
   * @param owner the class beside which the resource is
   * @throws IllegalArgumentException if there is no such resource
   * @throws UncheckedIOException if it cannot be read
   */
  static String resource(Class<?> owner, String name) {
    try (InputStream resource = owner.getResourceAsStream(name)) {
      if (resource == null) {
        throw new IllegalArgumentException(owner.getName() + " has no resource " + name);
      }
      return new String(resource.readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
