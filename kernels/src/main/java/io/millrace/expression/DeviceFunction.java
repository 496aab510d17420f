package io.millrace.expression;

import java.util.Arrays;
import java.util.List;

/** How a generated kernel computes a function. */
public sealed interface DeviceFunction {

  /**
   * Calls a function of the device function library, by its calling convention: scratch memory if
   * the binding uses it, the operands, then the address of the constant if it has bytes.
   */
  final class LibraryFunction implements DeviceFunction {
    private final String name;
    private final byte[] constant;

    private LibraryFunction(String name, byte[] constant) {
      this.name = name;
      this.constant = constant.clone();
    }

    /** The function's name in {@code cuda/function}. */
    public String name() {
      return name;
    }

    /** Data that the function reads, such as a compiled pattern; part of the generated module. */
    public byte[] constant() {
      return constant.clone();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof LibraryFunction that
          && name.equals(that.name)
          && Arrays.equals(constant, that.constant);
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
    return new LibraryFunction(name, new byte[0]);
  }

  static DeviceFunction call(String name, byte[] constant) {
    return new LibraryFunction(name, constant);
  }

  /** For a lambda where the type would not be inferred. */
  static DeviceFunction instructions(Instructions instructions) {
    return instructions;
  }
}
