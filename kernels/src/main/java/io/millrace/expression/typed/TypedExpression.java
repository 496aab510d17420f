// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.expression.vector.ValueText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An expression whose types are known and whose functions are bound: what both evaluators take.
 * Immutable; equal expressions have equal values in a row, so an evaluator computes each once.
 *
 * <p>Expressions share operands: a value that is used twice is one object with two users, and what
 * is small as a graph may be large beyond all measure as a tree. So whoever walks an expression
 * remembers where it has been, as {@link #nodes} does; comparing and hashing do too.
 */
@PublicEvolving
public abstract sealed class TypedExpression {
  /** How deep AND, OR, CASE and IS NULL may be within each other. */
  public static final int MAX_NESTED = 250;

  private final DataType type;
  private final boolean nullable;
  private final List<TypedExpression> operands;
  private final List<Object> properties;
  private final int hash;
  private final int nesting;

  /**
   * @param properties what tells the expression from others of its class that have equal operands
   */
  private TypedExpression(
      DataType type, boolean nullable, List<TypedExpression> operands, Object... properties) {
    this.type = type;
    this.nullable = nullable;
    this.operands = List.copyOf(operands);
    this.properties = Arrays.asList(properties);
    int hashed = 31 * getClass().hashCode() + Arrays.hashCode(properties);
    for (int i = 0; i < this.operands.size(); i++) {
      hashed = mix(31 * hashed + this.operands.get(i).hash);
    }
    this.hash = hashed;
    this.nesting = nesting();
  }

  /**
   * How deep conditions are within each other: calls evaluate their operands for the same rows, and
   * may be nested as deep as they like, but all else is evaluated by recursion.
   */
  private int nesting() {
    int most = 0;
    for (int i = 0; i < operands.size(); i++) {
      most = Math.max(most, operands.get(i).nesting);
    }
    boolean isCall = operands.isEmpty() || hasCalls();
    if (most == MAX_NESTED && !isCall) {
      throw new ExpressionException(
          "AND, OR, CASE and IS NULL are nested more than " + MAX_NESTED + " deep");
    }
    return isCall ? most : most + 1;
  }

  /** Whether this is computed of all operands, for the same rows. */
  public final boolean hasCalls() {
    return this instanceof Call || this instanceof Try;
  }

  // The finalizer of MurmurHash3. Without it all of a + a, (a + a) + (a + a) and so on collide.
  private static int mix(int value) {
    int mixed = (value ^ value >>> 16) * 0x85ebca6b;
    mixed = (mixed ^ mixed >>> 13) * 0xc2b2ae35;
    return mixed ^ mixed >>> 16;
  }

  public final DataType type() {
    return type;
  }

  /** Whether some row may give null. */
  public final boolean nullable() {
    return nullable;
  }

  public final List<TypedExpression> operands() {
    return operands;
  }

  /** What tells the expression from others of its class that have equal operands. */
  final List<Object> properties() {
    return properties;
  }

  /** The function that is called here, if one is; also where null is made of its failures. */
  public Optional<BoundFunction> calledFunction() {
    return Optional.empty();
  }

  /** This expression and all that it is made of, each once, operands before what uses them. */
  public final Set<TypedExpression> nodes() {
    return nodes(List.of(this));
  }

  /** The expressions and all that they are made of, each once, operands before what uses them. */
  public static Set<TypedExpression> nodes(Collection<TypedExpression> expressions) {
    Set<TypedExpression> nodes = new LinkedHashSet<>();
    expressions.forEach(
        expression ->
            PostOrder.visit(expression, TypedExpression::operands, nodes::contains, nodes::add));
    return nodes;
  }

  private static boolean anyNullable(List<TypedExpression> expressions) {
    boolean anyNullable = false;
    for (int i = 0; i < expressions.size(); i++) {
      anyNullable |= expressions.get(i).nullable;
    }
    return anyNullable;
  }

  /** The same of other operands, which have the types of these. */
  abstract TypedExpression withOperands(List<TypedExpression> others);

  /** How the expression is written, by its operands' texts. */
  abstract String toSql(List<String> operandTexts);

  @Override
  public final boolean equals(Object other) {
    return this == other
        || (other instanceof TypedExpression that
            && hash == that.hash
            && ValueNumbering.areEqual(this, that));
  }

  @Override
  public final int hashCode() {
    return hash;
  }

  /** The expression as SQL, cut where it is long. */
  @Override
  public final String toString() {
    return PostOrder.<TypedExpression, String>fold(
        this, TypedExpression::operands, (node, texts) -> SqlText.cut(node.toSql(texts)));
  }

  /** The value of an input column. */
  public static final class InputReference extends TypedExpression {
    private final int index;
    private final String name;

    public InputReference(int index, String name, DataType type, boolean nullable) {
      super(type, nullable, List.of(), index, name, type, nullable);
      this.index = index;
      this.name = name;
    }

    public int index() {
      return index;
    }

    public String name() {
      return name;
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return this;
    }

    @Override
    String toSql(List<String> operandTexts) {
      return name;
    }
  }

  /** A constant. */
  public static final class Literal extends TypedExpression {
    private final Object value;

    /**
     * @param value null, or for BOOL a Boolean; for integers, DATE, TIME and TIMESTAMP(0..6) a Long
     *     of the stored value; for floating point a Float or Double; for decimals a BigDecimal of
     *     the type's scale; for TIMESTAMP(7..9) a {@link TimestampNanos}; for STRING a String
     */
    public Literal(Object value, DataType type) {
      super(type, value == null, List.of(), value, type);
      this.value = value;
    }

    public Object value() {
      return value;
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return this;
    }

    @Override
    String toSql(List<String> operandTexts) {
      return ValueText.ofLiteral(type(), value);
    }
  }

  /** The row's position in its table. */
  public static final class RowNumber extends TypedExpression {
    public RowNumber() {
      super(DataType.INT32, false, List.of());
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return this;
    }

    @Override
    String toSql(List<String> operandTexts) {
      return "ROW_NUMBER()";
    }
  }

  /** A function of its operands; null where one of them is null. */
  public static final class Call extends TypedExpression {
    private final BoundFunction function;

    public Call(
        BoundFunction function, List<TypedExpression> operands, DataType type, boolean nullable) {
      super(type, nullable, operands, function, type, nullable);
      this.function = function;
    }

    public BoundFunction function() {
      return function;
    }

    @Override
    public Optional<BoundFunction> calledFunction() {
      return Optional.of(function);
    }

    @Override
    Call withOperands(List<TypedExpression> others) {
      return new Call(function, others, type(), nullable());
    }

    @Override
    String toSql(List<String> operandTexts) {
      return function.toSql(operandTexts);
    }
  }

  /** Whether all are true; an operand is not evaluated for rows where an earlier one is false. */
  public static final class And extends TypedExpression {
    public And(List<TypedExpression> operands) {
      super(DataType.BOOL, anyNullable(operands), operands);
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return new And(others);
    }

    @Override
    String toSql(List<String> operandTexts) {
      return "(" + String.join(" AND ", operandTexts) + ")";
    }
  }

  /** Whether one is true; an operand is not evaluated for rows where an earlier one is true. */
  public static final class Or extends TypedExpression {
    public Or(List<TypedExpression> operands) {
      super(DataType.BOOL, anyNullable(operands), operands);
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return new Or(others);
    }

    @Override
    String toSql(List<String> operandTexts) {
      return "(" + String.join(" OR ", operandTexts) + ")";
    }
  }

  /** Whether the operand is null. Never null itself. */
  public static final class IsNull extends TypedExpression {
    public IsNull(TypedExpression operand) {
      super(DataType.BOOL, false, List.of(operand));
    }

    public TypedExpression operand() {
      return operands().get(0);
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return new IsNull(others.get(0));
    }

    @Override
    String toSql(List<String> operandTexts) {
      return "(" + operandTexts.get(0) + " IS NULL)";
    }
  }

  /** The result of the first condition that is true; what comes after it is not evaluated. */
  public static final class Case extends TypedExpression {

    /**
     * @param results one a condition, and last the one for rows where no condition is true; all of
     *     one type
     * @param nullable false only if no row gives null, whatever the results' types say; may be true
     *     though none of them is nullable
     */
    public Case(List<TypedExpression> conditions, List<TypedExpression> results, boolean nullable) {
      super(results.get(0).type(), nullable, concatenate(conditions, results), nullable);
    }

    /** Nullable if a result is. */
    public Case(List<TypedExpression> conditions, List<TypedExpression> results) {
      this(conditions, results, anyNullable(results));
    }

    private static List<TypedExpression> concatenate(
        List<TypedExpression> conditions, List<TypedExpression> results) {
      List<TypedExpression> operands = new ArrayList<>(conditions);
      operands.addAll(results);
      return operands;
    }

    public List<TypedExpression> conditions() {
      return operands().subList(0, operands().size() / 2);
    }

    /** One a condition, and last the one for rows where no condition is true. */
    public List<TypedExpression> results() {
      return operands().subList(operands().size() / 2, operands().size());
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      int conditions = others.size() / 2;
      return new Case(
          others.subList(0, conditions), others.subList(conditions, others.size()), nullable());
    }

    @Override
    String toSql(List<String> operandTexts) {
      int conditions = operandTexts.size() / 2;
      return SqlText.branches(
          operandTexts.subList(0, conditions),
          operandTexts.subList(conditions, operandTexts.size()));
    }
  }

  /** The call's value, or null for rows for which it fails. */
  public static final class Try extends TypedExpression {
    private final Call call;

    public Try(Call call) {
      super(call.type(), true, call.operands(), call.properties().toArray());
      this.call = call;
    }

    public Call call() {
      return call;
    }

    @Override
    public Optional<BoundFunction> calledFunction() {
      return call.calledFunction();
    }

    @Override
    TypedExpression withOperands(List<TypedExpression> others) {
      return new Try(call.withOperands(others));
    }

    @Override
    String toSql(List<String> operandTexts) {
      return "TRY_" + call.toSql(operandTexts);
    }
  }
}
