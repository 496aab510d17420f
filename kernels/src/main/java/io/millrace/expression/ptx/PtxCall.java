// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.vector.ValueKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Calls library functions by their calling convention. */
@Internal
public final class PtxCall {
  private static final String STATUS = ".b32";

  private final PtxWriter ptx;
  private final PtxModule module;

  public PtxCall(PtxWriter ptx, PtxModule module) {
    this.ptx = ptx;
    this.module = module;
  }

  /** The PTX types of the registers of a value, one per part. */
  public static List<String> registerTypes(ValueKind kind) {
    return switch (kind) {
      case BOOL -> List.of(".pred");
      case INT -> List.of(".b32");
      case LONG -> List.of(".b64");
      case FLOAT -> List.of(".f32");
      case DOUBLE -> List.of(".f64");
      case DECIMAL128 -> List.of(".b64", ".b64");
      case TIMESTAMP_NANOS, BYTES -> List.of(".b64", ".b32");
      case STRUCT, LIST -> List.of();
    };
  }

  /** Like {@link #registerTypes}, for memory and parameters, where BOOL has 32 bits. */
  private static List<String> parameterTypes(ValueKind kind) {
    return switch (kind) {
      case BOOL -> List.of(".b32");
      case FLOAT -> List.of(".b32");
      case DOUBLE -> List.of(".b64");
      default -> registerTypes(kind);
    };
  }

  /** Declares registers for a non-null value of the type. */
  public PtxValue declare(DataType type) {
    List<String> registers = registerTypes(ValueKind.of(type)).stream().map(ptx::register).toList();
    return new PtxValue(type, registers, null);
  }

  /**
   * Writes a call of {@code function}.
   *
   * @param scratch register with the address of scratch memory, or null
   * @param table register with the address of the function's table, or null
   * @param hasStatus whether the result is followed by a status
   * @return the status register, or null
   */
  public String call(
      DeviceFunction.LibraryFunction function,
      List<PtxValue> operands,
      String scratch,
      String table,
      boolean hasStatus,
      PtxValue result) {
    List<String> types = new ArrayList<>();
    List<String> registers = new ArrayList<>();
    if (scratch != null) {
      types.add(".b64");
      registers.add(scratch);
    }
    for (PtxValue operand : operands) {
      types.addAll(parameterTypes(ValueKind.of(operand.type())));
      registers.addAll(inParameters(operand));
    }
    byte[] constant = function.constant();
    if (constant.length > 0) {
      types.add(".b64");
      registers.add(addressOf(module.constant(constant)));
    }
    if (table != null) {
      types.add(".b64");
      registers.add(table);
    }
    checkParameters(function.name(), types);
    return call(module.function(function.name()), types, registers, hasStatus, result);
  }

  private List<String> inParameters(PtxValue value) {
    if (ValueKind.of(value.type()) == ValueKind.BOOL) {
      String number = ptx.register(".b32");
      ptx.write("selp.b32 %s, 1, 0, %s", number, value.register());
      return List.of(number);
    }
    return value.registers();
  }

  /** A register with the generic address of a module variable. */
  public String addressOf(String variable) {
    String address = ptx.register(".b64");
    ptx.write("mov.u64 %s, %s", address, variable);
    ptx.write("cvta.global.u64 %s, %s", address, address);
    return address;
  }

  private void checkParameters(String function, List<String> types) {
    List<String> declared = module.library().parameters(function);
    if (!declared.equals(types)) {
      throw new IllegalStateException(
          "expected parameters " + declared + " for " + function + ", got " + types);
    }
  }

  private String call(
      String function,
      List<String> types,
      List<String> registers,
      boolean hasStatus,
      PtxValue result) {
    List<String> parameters = new ArrayList<>();
    ptx.raw("  {");
    for (int i = 0; i < types.size(); i++) {
      String parameter = "parameter" + i;
      ptx.raw("  .param " + types.get(i) + " " + parameter + ";");
      ptx.write("st.param%s [%s], %s", types.get(i), parameter, registers.get(i));
      parameters.add(parameter);
    }
    Optional<String> declared = module.library().result(function);
    checkResult(function, declared, result, hasStatus);
    declared.ifPresent(type -> ptx.raw("  .param " + variable(type, "result") + ";"));
    ptx.write(
        "call.uni %s%s, (%s)",
        declared.isPresent() ? "(result), " : "", function, String.join(", ", parameters));
    String status = null;
    if (result != null) {
      status = loadResult(result, hasStatus);
    }
    ptx.raw("  }");
    return status;
  }

  /** Calls a function of the kernel skeleton: no status and no type check. */
  public void call(String function, List<String> types, List<String> registers, PtxValue result) {
    checkParameters(function, types);
    call(module.function(function), types, registers, false, result);
  }

  // A declared type is ".b32", or ".align 8 .b8 [16]".
  private static String variable(String type, String name) {
    int array = type.indexOf('[');
    return array < 0 ? type + " " + name : type.substring(0, array) + name + type.substring(array);
  }

  private static void checkResult(
      String function, Optional<String> declared, PtxValue result, boolean hasStatus) {
    String actual = declared.orElse("none");
    ValueKind kind = result == null ? null : ValueKind.of(result.type());
    String expected = kind == null ? "none" : expectedResult(kind, hasStatus);
    if (actual.equals(expected)) {
      return;
    }
    if (kind != null && actual.equals(expectedResult(kind, !hasStatus))) {
      throw new IllegalStateException(
          hasStatus
              ? function + " returns no Outcome: bind it without nullable() and failing()"
              : function + " returns an Outcome: bind it with nullable() or failing()");
    }
    throw new IllegalStateException(
        "expected result " + expected + " of " + function + ", got " + actual);
  }

  private static String expectedResult(ValueKind kind, boolean hasStatus) {
    List<String> types = parameterTypes(kind);
    if (types.size() == 1 && !hasStatus) {
      return types.get(0);
    }
    int alignment = types.contains(".b64") ? Long.BYTES : Integer.BYTES;
    int bytes = valueBytes(kind) + (hasStatus ? alignment : 0);
    return String.format(Locale.ROOT, ".align %d .b8 [%d]", alignment, bytes);
  }

  // Offset of the status after the value in C layout: a two-part value has 16 bytes.
  private static int valueBytes(ValueKind kind) {
    List<String> types = parameterTypes(kind);
    return types.size() == 2
        ? 2 * Long.BYTES
        : types.get(0).equals(".b64") ? Long.BYTES : Integer.BYTES;
  }

  private String loadResult(PtxValue result, boolean hasStatus) {
    ValueKind kind = ValueKind.of(result.type());
    List<String> types = parameterTypes(kind);
    for (int part = 0; part < types.size(); part++) {
      if (kind == ValueKind.BOOL) {
        String number = ptx.register(".b32");
        ptx.write("ld.param.b32 %s, [result]", number);
        ptx.write("setp.ne.s32 %s, %s, 0", result.register(), number);
      } else {
        String register = result.registers().get(part);
        ptx.write("ld.param%s %s, [result+%d]", types.get(part), register, part * Long.BYTES);
      }
    }
    if (!hasStatus) {
      return null;
    }
    String status = ptx.register(STATUS);
    ptx.write("ld.param%s %s, [result+%d]", STATUS, status, valueBytes(kind));
    return status;
  }
}
