// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.PublicEvolving;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** How a generated kernel computes a function. */
@PublicEvolving
public sealed interface DeviceFunction {

  /**
   * Calls a function of the device function library, by its calling convention: scratch memory if
   * the binding uses it, the operands, then the address of the constant or the table if it has
   * bytes.
   */
  final class LibraryFunction implements DeviceFunction {
    private final String name;
    private final byte[] constant;
    // Not part of the generated module: memory that each calc uploads.
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

    /** Data that the function reads, such as a compiled pattern; part of the generated module. */
    public byte[] constant() {
      return constant.clone();
    }

    /** Data that the function reads, which the kernel takes as an argument; nobody writes to it. */
    public byte[] table() {
      return table;
    }

    /** What a kernel that calls this function has of it: equal for functions of other tables. */
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

  /** Writes PTX instructions; only for functions whose outcome is always a value. */
  @FunctionalInterface
  non-sealed interface Instructions extends DeviceFunction {

    /**
     * Writes what computes {@code result} from {@code operands} in each row, null or not: nothing
     * may trap.
     *
     * @param result its registers are declared; a BOOL's is a predicate
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
   * A library function of a table in memory, however long: kernels that differ in tables alone are
   * one.
   *
   * @param table aligned to 16 bytes where the function reads it; must not be written to
   */
  static DeviceFunction callWithTable(String name, byte[] table) {
    return new LibraryFunction(name, new byte[0], table);
  }

  /** For a lambda where the type would not be inferred. */
  static DeviceFunction instructions(Instructions instructions) {
    return instructions;
  }
}
