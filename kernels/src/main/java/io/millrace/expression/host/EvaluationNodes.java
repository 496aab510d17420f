// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.And;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.typed.TypedExpression.Case;
import io.millrace.expression.vector.BatchContext;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/** The nodes of a host evaluation, other than input columns. */
final class EvaluationNodes {
  private EvaluationNodes() {}

  /** A constant. */
  static final class LiteralNode extends HostNode {
    LiteralNode(TypedExpression.Literal literal, HostVector vector) {
      super(vector);
      for (int row = 0; row < vector.capacity(); row++) {
        if (row == 0 || literal.value() == null) {
          vector.setLiteral(row, literal.value());
        } else {
          vector.copy(row, vector, 0);
        }
      }
    }

    @Override
    void startChunk() {
      // Values once written remain valid.
    }

    @Override
    void compute(Rows rows, HostVector result) {}
  }

  static final class RowNumberNode extends HostNode {
    private final IntUnaryOperator positions;

    /**
     * @param positions table position of each row of the vector
     */
    RowNumberNode(HostVector vector, IntUnaryOperator positions) {
      super(vector);
      this.positions = positions;
    }

    @Override
    void compute(Rows rows, HostVector result) {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        result.longs()[row] = positions.applyAsInt(row);
      }
    }
  }

  /** A value of the batch that the graph is bound to. */
  static final class BatchValueNode extends HostNode {
    private final BatchValue value;
    private final Supplier<BatchContext> batch;

    BatchValueNode(BatchValue value, HostVector vector, Supplier<BatchContext> batch) {
      super(vector);
      this.value = value;
      this.batch = batch;
    }

    @Override
    void compute(Rows rows, HostVector result) {
      long ofBatch = value.property().of(batch.get());
      boolean isNull = value.nullable() && ofBatch == Long.MIN_VALUE;
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        result.longs()[row] = ofBatch;
        if (isNull) {
          result.setNull(row);
        }
      }
    }
  }

  /** Rows that a filter keeps of a value that another graph has computed for the whole chunk. */
  static final class CompactedNode extends HostNode {
    private final HostNode unfiltered;
    private final Supplier<Rows> selected;
    private final int[] positions;

    /**
     * @param selected rows of the chunk that the rows of {@code vector} stand for
     */
    CompactedNode(HostNode unfiltered, HostVector vector, Supplier<Rows> selected) {
      super(vector);
      this.unfiltered = unfiltered;
      this.selected = selected;
      this.positions = new int[vector.capacity()];
    }

    @Override
    void compute(Rows rows, HostVector result) {
      Rows chunkRows = selected.get();
      for (int i = 0; i < rows.count(); i++) {
        positions[i] = chunkRows.position(rows.position(i));
      }
      HostVector values = unfiltered.evaluate(chunkRows.of(positions, rows.count()));
      for (int i = 0; i < rows.count(); i++) {
        result.copy(rows.position(i), values, positions[i]);
      }
    }
  }

  /** Receives failed calls and the vectors of their operands. */
  interface Failures {
    void fail(Call call, HostVector[] operands, int row, Status status, RuntimeException cause);
  }

  /** A function call. A failed row is reported to the evaluation or becomes null. */
  static final class CallNode extends HostNode {
    private static final int CALLS_BETWEEN_LANDINGS = 64;

    private final Call call;
    private final HostNode[] operands;
    private final HostVector[] values;
    private final Rows.FailureSink sink;
    private final int[] present;
    private final int depth;
    // Rows of the last chunk if they were contiguous, which most are; null before the first chunk.
    private Rows dense;
    // Evaluated first, so that deep chains of calls descend the stack in large steps.
    private final Set<HostNode> landings = new LinkedHashSet<>();

    /**
     * @param failures null if a failed row becomes null
     */
    CallNode(Call call, HostNode[] operands, HostVector vector, Failures failures) {
      super(vector);
      this.call = call;
      this.operands = operands;
      this.values = new HostVector[operands.length];
      this.present = new int[vector.capacity()];
      this.depth = 1 + Arrays.stream(operands).mapToInt(HostNode::callDepth).max().orElse(0);
      if (depth > CALLS_BETWEEN_LANDINGS) {
        Arrays.stream(operands).forEach(operand -> operand.addLandings(landings));
      }
      this.sink =
          (row, status, cause) -> {
            vector.setNull(row);
            if (failures != null) {
              failures.fail(call, values, row, status, cause);
            }
          };
    }

    @Override
    void compute(Rows rows, HostVector result) {
      if (isLanding()) {
        landings.forEach(landing -> landing.evaluate(rows));
      }
      boolean hasNulls = false;
      for (int i = 0; i < operands.length; i++) {
        values[i] = operands[i].evaluate(rows);
        hasNulls |= values[i].hasNulls();
      }
      boolean isStrict = hasNulls && !call.function().takesNulls();
      Rows called = isStrict ? present(rows, result) : rows;
      if (called.count() > 0) {
        call.function().host().evaluate(values, result, failing(called));
      }
    }

    private Rows failing(Rows rows) {
      if (!rows.isDense()) {
        return rows.failingTo(sink);
      }
      if (dense == null || dense.count() != rows.count()) {
        dense = rows.failingTo(sink);
      }
      return dense;
    }

    @Override
    int callDepth() {
      return depth;
    }

    private boolean isLanding() {
      return depth % CALLS_BETWEEN_LANDINGS == 0;
    }

    @Override
    void addLandings(Set<HostNode> found) {
      if (isLanding()) {
        found.add(this);
      } else {
        found.addAll(landings);
      }
    }

    /** The rows without a null operand; the result of the others is set to null. */
    private Rows present(Rows rows, HostVector result) {
      int count = 0;
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        if (hasNullOperand(row)) {
          result.setNull(row);
        } else {
          present[count++] = row;
        }
      }
      return count == rows.count() ? rows : rows.of(present, count);
    }

    private boolean hasNullOperand(int row) {
      for (HostVector value : values) {
        if (value.isNull(row)) {
          return true;
        }
      }
      return false;
    }
  }

  /** The field of a struct that is computed. */
  static final class FieldNode extends HostNode {
    private final HostNode struct;
    private final int index;

    FieldNode(HostNode struct, int index, HostVector vector) {
      super(vector);
      this.struct = struct;
      this.index = index;
    }

    @Override
    void compute(Rows rows, HostVector result) {
      HostVector structs = struct.evaluate(rows);
      HostVector values = structs.fields().get(index);
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        if (structs.isNull(row)) {
          result.setNull(row);
        } else {
          result.copy(row, values, row);
        }
      }
    }
  }

  /** A struct of values. */
  static final class StructNode extends HostNode {
    private final List<HostNode> fields;

    StructNode(List<HostNode> fields, HostVector vector) {
      super(vector);
      this.fields = fields;
    }

    @Override
    void compute(Rows rows, HostVector result) {
      for (int i = 0; i < fields.size(); i++) {
        HostVector values = fields.get(i).evaluate(rows);
        for (int index = 0; index < rows.count(); index++) {
          int row = rows.position(index);
          result.fields().get(i).copy(row, values, row);
        }
      }
    }
  }

  static final class IsNullNode extends HostNode {
    private final HostNode operand;

    IsNullNode(HostNode operand, HostVector vector) {
      super(vector);
      this.operand = operand;
    }

    @Override
    void compute(Rows rows, HostVector result) {
      HostVector value = operand.evaluate(rows);
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        result.setBoolean(row, value.isNull(row));
      }
    }
  }

  /** AND and OR: evaluates the operands in turn, each for the rows that are still undecided. */
  static final class AndOrNode extends HostNode {
    private final boolean decisive;
    private final List<HostNode> operands;
    private final int[] undecided;
    private final boolean[] sawNull;

    AndOrNode(TypedExpression junction, List<HostNode> operands, HostVector vector) {
      super(vector);
      this.decisive = !(junction instanceof And);
      this.operands = operands;
      this.undecided = new int[vector.capacity()];
      this.sawNull = new boolean[vector.capacity()];
    }

    @Override
    void compute(Rows rows, HostVector result) {
      Arrays.fill(sawNull, false);
      Rows remaining = rows;
      for (HostNode operand : operands) {
        remaining = decide(operand.evaluate(remaining), remaining, result);
      }
      for (int i = 0; i < remaining.count(); i++) {
        int row = remaining.position(i);
        result.setBoolean(row, !decisive);
        if (sawNull[row]) {
          result.setNull(row);
        }
      }
    }

    private Rows decide(HostVector values, Rows rows, HostVector result) {
      int count = 0;
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        boolean isNull = values.isNull(row);
        if (!isNull && values.getBoolean(row) == decisive) {
          result.setBoolean(row, decisive);
        } else {
          sawNull[row] |= isNull;
          undecided[count++] = row;
        }
      }
      return count == rows.count() ? rows : rows.of(undecided, count);
    }
  }

  /** CASE: evaluates each condition for the rows that no earlier condition matched. */
  static final class CaseNode extends HostNode {
    private final List<HostNode> conditions;
    private final List<HostNode> results;
    private final int[] taken;
    private final int[] left;

    CaseNode(Case branches, List<HostNode> operands, HostVector vector) {
      super(vector);
      int count = branches.conditions().size();
      this.conditions = operands.subList(0, count);
      this.results = operands.subList(count, operands.size());
      this.taken = new int[vector.capacity()];
      this.left = new int[vector.capacity()];
    }

    @Override
    void compute(Rows rows, HostVector result) {
      Rows remaining = rows;
      for (int branch = 0; branch < conditions.size() && remaining.count() > 0; branch++) {
        remaining = take(branch, remaining, result);
      }
      move(results.get(conditions.size()), remaining, result);
    }

    // `rows` may be stored in `left`: it is read before it is overwritten.
    private Rows take(int branch, Rows rows, HostVector result) {
      HostVector condition = conditions.get(branch).evaluate(rows);
      int takenCount = 0;
      int leftCount = 0;
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        if (condition.getBoolean(row) && !condition.isNull(row)) {
          taken[takenCount++] = row;
        } else {
          left[leftCount++] = row;
        }
      }
      move(results.get(branch), rows.of(taken, takenCount), result);
      return rows.of(left, leftCount);
    }

    private static void move(HostNode from, Rows rows, HostVector result) {
      HostVector values = from.evaluate(rows);
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        result.copy(row, values, row);
      }
    }
  }
}
