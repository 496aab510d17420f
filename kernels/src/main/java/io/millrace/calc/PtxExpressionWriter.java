// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxCall;
import io.millrace.expression.ptx.PtxModule;
import io.millrace.expression.ptx.PtxPredicates;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.BoundFunction.Outcome;
import io.millrace.expression.typed.ConstantBytes;
import io.millrace.expression.typed.FieldAccess;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.PostOrder;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.typed.TypedExpression.Case;
import io.millrace.expression.vector.Status;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.expression.vector.ValueKind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes the instructions that compute expressions for one row. Equal expressions are computed
 * once, unless the first is in a branch that does not enclose the other. Nulls are predicates.
 *
 * <p>Expressions that may fail or call a library function are computed behind a branch, for rows
 * that need them. Others are computed for all rows and selected.
 */
final class PtxExpressionWriter {
  private static final int LONG_BITS = 64;

  /** Provides input values and memory addresses. */
  interface Row {
    /**
     * Loads the value of an input column, without regard to the structs that it is a field of.
     *
     * @param nullable whether the column may have a mask that counts
     */
    PtxValue load(InputPath column, DataType type, boolean nullable);

    /** A register with the row's position in the table. */
    String number();

    /** A 64-bit register with a value of the batch. */
    String batchValue(BatchValue.Property property);

    /** A register with the address of scratch memory for the result of {@code call}. */
    String scratch(Call call);

    /** A register with the address of the table that the function of {@code call} reads. */
    String table(Call call);

    /** Writes that the row must be evaluated on the host if {@code predicate} is true. */
    void failIf(String predicate);
  }

  private final PtxWriter ptx;
  private final PtxModule module;
  private final PtxCall calls;
  private final PtxPredicates predicates;
  private final ConditionalExpressions conditional;
  private final Row row;
  private final Deque<Map<TypedExpression, PtxValue>> scopes = new ArrayDeque<>();

  PtxExpressionWriter(
      PtxWriter ptx, PtxModule module, ConditionalExpressions conditional, Row row) {
    this.ptx = ptx;
    this.module = module;
    this.calls = new PtxCall(ptx, module);
    this.predicates = new PtxPredicates(ptx);
    this.conditional = conditional;
    this.row = row;
    scopes.push(new HashMap<>());
  }

  /** Starts a branch: values computed in it are forgotten at {@link #endBranch}. */
  void beginBranch() {
    scopes.push(new HashMap<>());
  }

  void endBranch() {
    scopes.pop();
  }

  /** The value of {@code expression} in registers that must not be modified. */
  PtxValue write(TypedExpression expression) {
    PostOrder.visit(
        expression,
        next -> next.hasCalls() ? next.operands() : List.of(),
        next -> known(next) != null,
        next -> scopes.element().put(next, compute(next)));
    return known(expression);
  }

  private PtxValue known(TypedExpression expression) {
    for (Map<TypedExpression, PtxValue> scope : scopes) {
      PtxValue value = scope.get(expression);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private PtxValue compute(TypedExpression expression) {
    if (expression instanceof TypedExpression.InputReference reference) {
      return row.load(
          InputPath.of(reference).orElseThrow(), reference.type(), reference.nullable());
    } else if (expression instanceof FieldAccess access) {
      return field(access);
    } else if (expression instanceof RowNumber) {
      return new PtxValue(expression.type(), List.of(row.number()), null);
    } else if (expression instanceof BatchValue value) {
      return ofBatch(value);
    } else if (expression instanceof TypedExpression.Literal literal) {
      return literal(literal);
    } else if (expression instanceof Call call) {
      return call(call, false);
    } else if (expression instanceof TypedExpression.Try attempt) {
      return call(attempt.call(), true);
    } else if (expression instanceof TypedExpression.IsNull isNull) {
      PtxValue operand = write(isNull.operand());
      return bool(
          operand.valid() == null ? predicates.constant(false) : predicates.not(operand.valid()),
          null);
    } else if (expression instanceof Case branches) {
      return branches(branches);
    }
    return junction(expression);
  }

  private PtxValue field(FieldAccess access) {
    String isStruct = write(access.struct()).valid();
    InputPath path = InputPath.of(access).orElseThrow();
    PtxValue value = row.load(path, access.type(), access.field().nullable());
    return value.withValid(predicates.and(value.valid(), isStruct));
  }

  private PtxValue ofBatch(BatchValue value) {
    String register = row.batchValue(value.property());
    String valid = null;
    if (value.nullable()) {
      valid = ptx.register(".pred");
      ptx.write("setp.ne.s64 %s, %s, %d", valid, register, Long.MIN_VALUE);
    }
    return new PtxValue(value.type(), List.of(register), valid);
  }

  private static PtxValue bool(String predicate, String valid) {
    return new PtxValue(DataType.BOOL, List.of(predicate), valid);
  }

  // ---- literals ----

  private PtxValue literal(TypedExpression.Literal literal) {
    PtxValue value = calls.declare(literal.type());
    Object constant = literal.value();
    ValueKind kind = ValueKind.of(literal.type());
    String register = value.register();
    switch (kind) {
      case BOOL ->
          ptx.write("setp.%s.s32 %s, 0, 0", Boolean.TRUE.equals(constant) ? "eq" : "ne", register);
      case INT -> module.load(ptx, register, (int) stored(constant));
      case LONG -> module.load(ptx, register, stored(constant));
      case FLOAT ->
          module.load(
              ptx, register, Float.floatToRawIntBits(constant == null ? 0 : (Float) constant));
      case DOUBLE ->
          module.load(
              ptx, register, Double.doubleToRawLongBits(constant == null ? 0 : (Double) constant));
      case DECIMAL128 -> {
        BigInteger unscaled =
            constant == null ? BigInteger.ZERO : ((BigDecimal) constant).unscaledValue();
        module.load(ptx, register, unscaled.longValue());
        module.load(ptx, value.secondPart(), unscaled.shiftRight(LONG_BITS).longValue());
      }
      case TIMESTAMP_NANOS -> {
        TimestampNanos timestamp =
            constant == null ? new TimestampNanos(0, 0) : (TimestampNanos) constant;
        module.load(ptx, register, timestamp.millis());
        module.load(ptx, value.secondPart(), timestamp.nanos());
      }
      case BYTES -> {
        byte[] bytes = ConstantBytes.of(literal);
        ptx.write("mov.b64 %s, %s", register, calls.addressOf(module.constant(bytes)));
        module.load(ptx, value.secondPart(), bytes.length);
      }
      default -> throw new IllegalArgumentException("no register holds " + literal.type());
    }
    return constant == null ? value.withValid(predicates.constant(false)) : value;
  }

  private static long stored(Object constant) {
    if (constant instanceof BigDecimal decimal) {
      return decimal.unscaledValue().longValueExact();
    }
    return constant == null ? 0 : (Long) constant;
  }

  // ---- calls ----

  private PtxValue call(Call call, boolean failureIsNull) {
    List<PtxValue> operands = call.operands().stream().map(this::write).toList();
    String valid = null;
    for (PtxValue operand : operands) {
      valid = predicates.and(valid, operand.valid());
    }
    PtxValue result = calls.declare(call.type());
    BoundFunction function = call.function();
    DeviceFunction device = function.device().orElseThrow();
    if (device instanceof DeviceFunction.Instructions instructions) {
      instructions.emit(ptx, operands, result);
      return result.withValid(valid);
    }
    boolean hasStatus = function.outcome() != Outcome.VALUE;
    DeviceFunction.LibraryFunction library = (DeviceFunction.LibraryFunction) device;
    String scratch = function.usesScratch() ? row.scratch(call) : null;
    String table = library.table().length > 0 ? row.table(call) : null;
    String status = calls.call(library, operands, scratch, table, hasStatus, result);
    if (!hasStatus) {
      return result.withValid(valid);
    }
    // TRY_CAST turns failures into null, but rows that only the host can decide still need the
    // host.
    int firstFailure = (failureIsNull ? Status.NEEDS_HOST : Status.DIVISION_BY_ZERO).code();
    String failed = predicates.and(valid, predicates.compare("ge", status, firstFailure));
    row.failIf(failed);
    return result.withValid(
        predicates.and(valid, predicates.compare("eq", status, Status.VALUE.code())));
  }

  // ---- logic ----

  private PtxValue junction(TypedExpression junction) {
    boolean isAnd = junction instanceof TypedExpression.And;
    boolean nullable = false;
    // For AND: whether all operands so far are true, and whether any is false. For OR the reverse.
    String all = predicates.constant(true);
    String decided = predicates.constant(false);
    String end = ptx.label();
    int branches = 0;
    conditional.sharedWithin(junction).forEach(this::write);
    for (TypedExpression operand : junction.operands()) {
      if (conditional.contains(operand) && !operand.equals(junction.operands().get(0))) {
        ptx.write("@%s bra %s", decided, end);
        beginBranch();
        branches++;
      }
      PtxValue value = write(operand);
      nullable |= value.valid() != null;
      String is = isAnd ? value.register() : predicates.not(value.register());
      ptx.write("and.pred %s, %s, %s", all, all, predicates.and(is, value.valid()));
      String isDecisive = predicates.and(predicates.not(is), value.valid());
      ptx.write("or.pred %s, %s, %s", decided, decided, isDecisive);
    }
    for (int i = 0; i < branches; i++) {
      endBranch();
    }
    ptx.place(end);
    String valid = null;
    if (nullable) {
      valid = ptx.register(".pred");
      ptx.write("or.pred %s, %s, %s", valid, all, decided);
    }
    return bool(isAnd ? all : decided, valid);
  }

  // ---- case ----

  private PtxValue branches(Case branches) {
    PtxValue result = conditional.contains(branches) ? branching(branches) : selecting(branches);
    return branches.nullable() ? result : result.withValid(null);
  }

  private PtxValue selecting(Case branches) {
    int last = branches.conditions().size();
    PtxValue result = write(branches.results().get(last));
    List<PtxValue> results = new ArrayList<>();
    List<String> conditions = new ArrayList<>();
    for (int i = 0; i < last; i++) {
      conditions.add(isTrue(write(branches.conditions().get(i))));
      results.add(write(branches.results().get(i)));
    }
    for (int i = last - 1; i >= 0; i--) {
      result = select(conditions.get(i), results.get(i), result);
    }
    return result;
  }

  private String isTrue(PtxValue condition) {
    return predicates.and(condition.register(), condition.valid());
  }

  private PtxValue select(String condition, PtxValue chosen, PtxValue otherwise) {
    PtxValue result = calls.declare(otherwise.type());
    for (int part = 0; part < result.registers().size(); part++) {
      predicates.select(
          PtxCall.registerTypes(ValueKind.of(result.type())).get(part),
          result.registers().get(part),
          chosen.registers().get(part),
          otherwise.registers().get(part),
          condition);
    }
    if (chosen.valid() == null && otherwise.valid() == null) {
      return result;
    }
    String valid = ptx.register(".pred");
    predicates.select(
        ".pred",
        valid,
        chosen.valid() == null ? predicates.constant(true) : chosen.valid(),
        otherwise.valid() == null ? predicates.constant(true) : otherwise.valid(),
        condition);
    return result.withValid(valid);
  }

  private PtxValue branching(Case branches) {
    PtxValue result = calls.declare(branches.type());
    if (branches.nullable()) {
      result = result.withValid(ptx.register(".pred"));
    }
    String end = ptx.label();
    conditional.sharedWithin(branches).forEach(this::write);
    beginBranch();
    for (int i = 0; i < branches.conditions().size(); i++) {
      String next = ptx.label();
      String condition = isTrue(write(branches.conditions().get(i)));
      conditional.sharedFrom(branches.results().get(i)).forEach(this::write);
      ptx.write("@!%s bra %s", condition, next);
      moveInBranch(branches.results().get(i), result);
      ptx.write("bra %s", end);
      ptx.place(next);
    }
    moveInBranch(branches.results().get(branches.conditions().size()), result);
    endBranch();
    ptx.place(end);
    return result;
  }

  private void moveInBranch(TypedExpression expression, PtxValue result) {
    beginBranch();
    PtxValue value = write(expression);
    List<String> types = PtxCall.registerTypes(ValueKind.of(result.type()));
    for (int part = 0; part < types.size(); part++) {
      ptx.write(
          "mov%s %s, %s",
          types.get(part), result.registers().get(part), value.registers().get(part));
    }
    if (result.valid() != null) {
      ptx.write(
          "mov.pred %s, %s",
          result.valid(), value.valid() == null ? predicates.constant(true) : value.valid());
    }
    endBranch();
  }
}
