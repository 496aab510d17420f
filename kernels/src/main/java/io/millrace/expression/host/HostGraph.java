// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.host.EvaluationNodes.AndOrNode;
import io.millrace.expression.host.EvaluationNodes.CallNode;
import io.millrace.expression.host.EvaluationNodes.CaseNode;
import io.millrace.expression.host.EvaluationNodes.CompactedNode;
import io.millrace.expression.host.EvaluationNodes.IsNullNode;
import io.millrace.expression.host.EvaluationNodes.LiteralNode;
import io.millrace.expression.host.EvaluationNodes.RowNumberNode;
import io.millrace.expression.typed.PostOrder;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.vector.ByteArena;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.memory.AccessScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The nodes of expressions over the same rows of a chunk: all of them, or those that a filter
 * keeps. These stand side by side in the vectors, so that functions go through them without gaps.
 */
final class HostGraph {
  private final int capacity;
  private final ByteArena literals;
  private final ByteArena results;
  private final Failures failures;
  private final HostGraph unfiltered;
  private final Map<TypedExpression, HostNode> nodes = new HashMap<>();
  private final List<HostNode> computed = new ArrayList<>();
  private final List<Input> inputs = new ArrayList<>();
  private int firstRow;
  private Rows selected;

  /** What reads a column of the table. */
  private record Input(int index, HostInputNode node) {}

  /** Takes the failures of calls. */
  @FunctionalInterface
  interface Failures {
    /**
     * Takes one.
     *
     * @param operands with their values at {@code row}
     * @param position of the row in the table
     * @param cause what the function threw; null if it threw nothing
     */
    void fail(
        Call call,
        HostVector[] operands,
        int row,
        int position,
        Status status,
        RuntimeException cause);
  }

  /**
   * The nodes for all rows.
   *
   * @param capacity rows of a chunk at most
   */
  HostGraph(int capacity, ByteArena literals, ByteArena results, Failures failures) {
    this(capacity, literals, results, failures, null);
  }

  private HostGraph(
      int capacity,
      ByteArena literals,
      ByteArena results,
      Failures failures,
      HostGraph unfiltered) {
    this.capacity = capacity;
    this.literals = literals;
    this.results = results;
    this.failures = failures;
    this.unfiltered = unfiltered;
  }

  /** The nodes for the rows that a filter keeps; they take what this graph has computed. */
  HostGraph filtered() {
    return new HostGraph(capacity, literals, results, failures, this);
  }

  /**
   * Reads the columns of {@code input} from now on.
   *
   * @param scope what its memory is accessed in, for as long as it is read
   */
  void bind(Table input, AccessScope scope) {
    inputs.forEach(column -> column.node().bind(input.column(column.index()), scope));
  }

  /**
   * Goes on to the next chunk.
   *
   * @param row where it begins in the table
   * @param rows those of the chunk that the vectors' rows are, in their order
   */
  void startChunk(int row, Rows rows) {
    firstRow = row;
    selected = rows;
    inputs.forEach(input -> input.node().startChunk(row, rows));
    computed.forEach(HostNode::startChunk);
  }

  /** The node of {@code expression}; equal expressions have one. */
  HostNode node(TypedExpression expression) {
    PostOrder.visit(
        expression,
        next -> isTaken(next) ? List.of() : next.operands(),
        nodes::containsKey,
        this::add);
    return nodes.get(expression);
  }

  private void add(TypedExpression expression) {
    HostNode node = create(expression);
    nodes.put(expression, node);
    if (!(node instanceof HostInputNode)) {
      computed.add(node);
    }
  }

  private boolean isTaken(TypedExpression expression) {
    return unfiltered != null && unfiltered.nodes.containsKey(expression);
  }

  private HostNode create(TypedExpression expression) {
    if (expression instanceof TypedExpression.InputReference reference) {
      HostInputNode node = new HostInputNode(vector(reference.type()));
      inputs.add(new Input(reference.index(), node));
      return node;
    } else if (expression instanceof TypedExpression.Literal literal) {
      return new LiteralNode(literal, new HostVector(literal.type(), literals, capacity));
    } else if (expression instanceof TypedExpression.RowNumber) {
      return new RowNumberNode(vector(expression.type()), this::position);
    } else if (isTaken(expression)) {
      HostNode computed = unfiltered.node(expression);
      return new CompactedNode(computed, vector(expression.type()), () -> selected);
    } else if (expression instanceof Call call) {
      return new CallNode(call, operands(call), vector(call.type()), this::fail);
    } else if (expression instanceof TypedExpression.Try attempt) {
      Call call = attempt.call();
      return new CallNode(call, operands(call), vector(call.type()), null);
    }
    List<HostNode> operands = expression.operands().stream().map(this::node).toList();
    HostVector vector = vector(expression.type());
    if (expression instanceof TypedExpression.IsNull) {
      return new IsNullNode(operands.get(0), vector);
    } else if (expression instanceof TypedExpression.Case branches) {
      return new CaseNode(branches, operands, vector);
    }
    return new AndOrNode(expression, operands, vector);
  }

  private HostNode[] operands(Call call) {
    return call.operands().stream().map(this::node).toArray(HostNode[]::new);
  }

  private HostVector vector(DataType type) {
    return new HostVector(type, results, capacity);
  }

  private int position(int row) {
    return firstRow + selected.position(row);
  }

  private void fail(
      Call call, HostVector[] operands, int row, Status status, RuntimeException cause) {
    failures.fail(call, operands, row, position(row), status, cause);
  }
}
