// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.host.EvaluationNodes.AndOrNode;
import io.millrace.expression.host.EvaluationNodes.BatchValueNode;
import io.millrace.expression.host.EvaluationNodes.CallNode;
import io.millrace.expression.host.EvaluationNodes.CaseNode;
import io.millrace.expression.host.EvaluationNodes.CompactedNode;
import io.millrace.expression.host.EvaluationNodes.FieldNode;
import io.millrace.expression.host.EvaluationNodes.IsNullNode;
import io.millrace.expression.host.EvaluationNodes.LiteralNode;
import io.millrace.expression.host.EvaluationNodes.RowNumberNode;
import io.millrace.expression.host.EvaluationNodes.StructNode;
import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.FieldAccess;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.PostOrder;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.StructConstructor;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.vector.BatchContext;
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
 * The nodes of expressions over the same rows of a chunk: all rows, or the rows that a filter
 * keeps. The latter are contiguous in the vectors, so that functions process them without gaps.
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
  private BatchContext batch;
  private int firstRow;
  private Rows selected;

  /** A node that reads a column of the table. */
  private record Input(InputPath path, HostInputNode node) {}

  /** Receives failed calls. */
  @FunctionalInterface
  interface Failures {
    /**
     * Reports a failed row.
     *
     * @param operands operand vectors with values at {@code row}
     * @param position position of the row in the table
     * @param cause the exception of the function; null if there is none
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
   * Creates a graph for all rows.
   *
   * @param capacity maximum number of rows in a chunk
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

  /**
   * Creates a graph for the rows that a filter keeps; it reuses the values that this graph has
   * computed.
   */
  HostGraph filtered() {
    return new HostGraph(capacity, literals, results, failures, this);
  }

  /**
   * Binds the graph to the columns of {@code input} and the values of its batch.
   *
   * @param scope scope for accessing the input's memory while the graph is bound
   */
  void bind(Table input, BatchContext batchOfInput, AccessScope scope) {
    batch = batchOfInput;
    List<Column> columns = input.columns();
    inputs.forEach(read -> read.node().bind(read.path().along(columns), scope));
  }

  /**
   * Starts the next chunk.
   *
   * @param row position of the chunk in the table
   * @param rows rows of the chunk, in the order of the vectors
   */
  void startChunk(int row, Rows rows) {
    firstRow = row;
    selected = rows;
    inputs.forEach(input -> input.node().startChunk(row, rows));
    computed.forEach(HostNode::startChunk);
  }

  /** The node of {@code expression}; equal expressions share a node. */
  HostNode node(TypedExpression expression) {
    PostOrder.visit(
        expression,
        next -> isTaken(next) || isInput(next) || isNullTest(next) ? List.of() : next.operands(),
        nodes::containsKey,
        this::add);
    return nodes.get(expression);
  }

  // Reads the mask alone, not the value.
  private static boolean isNullTest(TypedExpression expression) {
    return expression instanceof TypedExpression.IsNull test && isInput(test.operand());
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

  private static boolean isInput(TypedExpression expression) {
    return InputPath.of(expression).isPresent();
  }

  private HostInputNode input(TypedExpression column, DataType type) {
    HostInputNode node = new HostInputNode(vector(type));
    inputs.add(new Input(InputPath.of(column).orElseThrow(), node));
    return node;
  }

  private HostNode create(TypedExpression expression) {
    if (isInput(expression)) {
      return input(expression, expression.type());
    } else if (expression instanceof TypedExpression.Literal literal) {
      return new LiteralNode(literal, new HostVector(literal.type(), literals, capacity));
    } else if (expression instanceof RowNumber) {
      return new RowNumberNode(vector(expression.type()), this::position);
    } else if (expression instanceof BatchValue value) {
      return new BatchValueNode(value, vector(value.type()), () -> batch);
    } else if (isTaken(expression)) {
      HostNode computed = unfiltered.node(expression);
      return new CompactedNode(computed, vector(expression.type()), () -> selected);
    } else if (expression instanceof Call call) {
      return new CallNode(call, operands(call), vector(call.type()), this::fail);
    } else if (expression instanceof TypedExpression.Try attempt) {
      Call call = attempt.call();
      return new CallNode(call, operands(call), vector(call.type()), null);
    }
    HostVector vector = vector(expression.type());
    if (isNullTest(expression)) {
      return new IsNullNode(input(expression.operands().get(0), HostInputNode.MASK_ONLY), vector);
    }
    List<HostNode> operands = expression.operands().stream().map(this::node).toList();
    if (expression instanceof TypedExpression.IsNull) {
      return new IsNullNode(operands.get(0), vector);
    } else if (expression instanceof TypedExpression.Case branches) {
      return new CaseNode(branches, operands, vector);
    } else if (expression instanceof FieldAccess access) {
      return new FieldNode(operands.get(0), access.index(), vector);
    } else if (expression instanceof StructConstructor) {
      return new StructNode(operands, vector);
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
