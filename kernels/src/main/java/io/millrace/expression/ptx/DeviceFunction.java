// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.PublicEvolving;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** Implementation of a function in generated kernels. */
@PublicEvolving
public sealed interface DeviceFunction {

  /**
   * A call of a function in the device function library. Parameters by calling convention: the
   * address of scratch memory if the binding uses it, the operands, then the address of the
   * constant or table if there is one.
   */
  final class LibraryFunction implements DeviceFunction {
    private final String name;
    private final byte[] constant;
    // Not part of the generated module: each calc uploads it to device memory.
    private final byte[] table;

    private LibraryFunction(String name, byte[] constant, byte[] table) {
      this.name = name;
      this.constant = constant;
      this.table = table;
    }

    /** The function's name in {@code cuda/function}. */
    public String name() {
      return name;
    }

    /** Data that the function reads, such as a compiled pattern; stored in the generated module. */
    public byte[] constant() {
      return constant.clone();
    }

    /** Data that the function reads through a kernel argument. Read-only. */
    public byte[] table() {
      return table;
    }

    /**
     * The part of a generated kernel that depends on this function; equal for functions that differ
     * only in their tables.
     */
    public Object kernelIdentity() {
      return List.of(name, ByteBuffer.wrap(constant), table.length > 0);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof LibraryFunction that
          && name.equals(that.name)
          && Arrays.equals(constant, that.constant)
          && Arrays.equals(table, that.table);
    }

    @Override
    public int hashCode() {
      return 31 * name.hashCode() + Arrays.hashCode(constant);
    }
  }

  /** Writes PTX instructions. Only for functions whose outcome is always a value. */
  @FunctionalInterface
  non-sealed interface Instructions extends DeviceFunction {

    /**
     * Writes instructions that compute {@code result} from {@code operands}. They run for every
     * row, also with null operands, and must not trap.
     *
     * @param result declared registers; a predicate for BOOL
     */
    void emit(PtxWriter ptx, List<PtxValue> operands, PtxValue result);
  }

  static DeviceFunction call(String name) {
    return call(name, new byte[0]);
  }

  static DeviceFunction call(String name, byte[] constant) {
    return new LibraryFunction(name, constant.clone(), new byte[0]);
  }

  /**
   * A library function with a table in device memory, of any length. Functions that differ only in
   * their tables share a kernel.
   *
   * @param table aligned to 16 bytes on the device; must not be modified
   */
  static DeviceFunction callWithTable(String name, byte[] table) {
    return new LibraryFunction(name, new byte[0], table);
  }

  /** Identity function, for lambdas whose type cannot be inferred. */
  static DeviceFunction instructions(Instructions instructions) {
    return instructions;
  }
}
