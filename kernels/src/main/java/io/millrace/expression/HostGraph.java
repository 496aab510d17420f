package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.HostNodes.CallNode;
import io.millrace.expression.HostNodes.CaseNode;
import io.millrace.expression.HostNodes.IsNullNode;
import io.millrace.expression.HostNodes.JunctionNode;
import io.millrace.expression.HostNodes.LiteralNode;
import io.millrace.expression.HostNodes.RowNumberNode;
import io.millrace.expression.HostNodes.SelectedNode;
import io.millrace.expression.TypedExpression.Call;
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
  private final Table input;
  private final AccessScope scope;
  private final ByteArena literals;
  private final ByteArena results;
  private final Failures failures;
  private final HostGraph unfiltered;
  private final Map<TypedExpression, HostNode> nodes = new HashMap<>();
  private final List<HostInputNode> inputs = new ArrayList<>();
  private int firstRow;
  private Rows selected;

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

  /** The nodes for all rows. */
  HostGraph(
      Table input, AccessScope scope, ByteArena literals, ByteArena results, Failures failures) {
    this(input, scope, literals, results, failures, null);
  }

  private HostGraph(
      Table input,
      AccessScope scope,
      ByteArena literals,
      ByteArena results,
      Failures failures,
      HostGraph unfiltered) {
    this.input = input;
    this.scope = scope;
    this.literals = literals;
    this.results = results;
    this.failures = failures;
    this.unfiltered = unfiltered;
  }

  /** The nodes for the rows that a filter keeps; they take what this graph has computed. */
  HostGraph filtered() {
    return new HostGraph(input, scope, literals, results, failures, this);
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
    inputs.forEach(node -> node.startChunk(row, rows));
    nodes.values().forEach(HostNode::startChunk);
  }

  /** The node of {@code expression}; equal expressions have one. */
  HostNode node(TypedExpression expression) {
    PostOrder.visit(
        expression,
        next -> isTaken(next) ? List.of() : next.operands(),
        nodes::containsKey,
        next -> nodes.put(next, create(next)));
    return nodes.get(expression);
  }

  private boolean isTaken(TypedExpression expression) {
    return unfiltered != null && unfiltered.nodes.containsKey(expression);
  }

  private HostNode create(TypedExpression expression) {
    if (expression instanceof TypedExpression.InputReference reference) {
      HostInputNode node =
          new HostInputNode(input.column(reference.index()), vector(reference.type()), scope);
      inputs.add(node);
      return node;
    } else if (expression instanceof TypedExpression.Literal literal) {
      return new LiteralNode(literal, new HostVector(literal.type(), literals));
    } else if (expression instanceof TypedExpression.RowNumber) {
      return new RowNumberNode(vector(expression.type()), this::position);
    } else if (isTaken(expression)) {
      HostNode computed = unfiltered.node(expression);
      return new SelectedNode(computed, vector(expression.type()), () -> selected);
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
    return new JunctionNode(expression, operands, vector);
  }

  private HostNode[] operands(Call call) {
    return call.operands().stream().map(this::node).toArray(HostNode[]::new);
  }

  private HostVector vector(DataType type) {
    return new HostVector(type, results);
  }

  private int position(int row) {
    return firstRow + selected.position(row);
  }

  private void fail(
      Call call, HostVector[] operands, int row, Status status, RuntimeException cause) {
    failures.fail(call, operands, row, position(row), status, cause);
  }
}
