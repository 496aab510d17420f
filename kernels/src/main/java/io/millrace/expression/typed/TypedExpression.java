// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.vector.BinaryValue;
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
 * An expression with known types and bound functions, the input of both evaluators. Immutable.
 * Equal expressions have equal values in a row, so evaluators compute them once.
 *
 * <p>Operands are shared: a value that is used twice is one object, so that a small graph may be
 * exponentially large as a tree. Traversals must therefore remember visited nodes, as {@link
 * #nodes}, comparison and hashing do. All subclasses are in this package.
 */
@PublicEvolving
public abstract class TypedExpression {
  /** Maximum nesting depth of AND, OR, CASE and IS NULL. */
  public static final int MAX_NESTED = 250;

  private final DataType type;
  private final boolean nullable;
  private final List<TypedExpression> operands;
  private final List<Object> properties;
  private final int hash;
  private final int nesting;

  /**
   * @param properties attributes that distinguish expressions of the same class with equal operands
   */
  TypedExpression(
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
   * Nesting depth of conditions. Calls evaluate their operands for the same rows and may be nested
   * without limit; other nodes are evaluated by recursion.
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

  /** Whether this is a function call, which evaluates all operands for the same rows. */
  public final boolean hasCalls() {
    return this instanceof Call || this instanceof Try;
  }

  // The finalizer of MurmurHash3. Without it, a + a, (a + a) + (a + a) and so on collide.
  private static int mix(int value) {
    int mixed = (value ^ value >>> 16) * 0x85ebca6b;
    mixed = (mixed ^ mixed >>> 13) * 0xc2b2ae35;
    return mixed ^ mixed >>> 16;
  }

  public final DataType type() {
    return type;
  }

  /** Whether the value may be null. */
  public final boolean nullable() {
    return nullable;
  }

  public final List<TypedExpression> operands() {
    return operands;
  }

  /** Attributes that distinguish expressions of the same class with equal operands. */
  final List<Object> properties() {
    return properties;
  }

  /** The called function if this is a call, including TRY_CAST. */
  public Optional<BoundFunction> calledFunction() {
    return Optional.empty();
  }

  /** All nodes of this expression, each once, operands before their users. */
  public final Set<TypedExpression> nodes() {
    return nodes(List.of(this));
  }

  /** All nodes of the expressions, each once, operands before their users. */
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

  /** A copy with other operands of the same types. */
  abstract TypedExpression withOperands(List<TypedExpression> others);

  /** The SQL text, given the texts of the operands. */
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

  /** The expression as SQL, truncated by {@link SqlText#cut}. */
  @Override
  public final String toString() {
    return PostOrder.<TypedExpression, String>fold(
        this, TypedExpression::operands, (node, texts) -> SqlText.cut(node.toSql(texts)));
  }

  /** Reads an input column. */
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
     *     the type's scale; for TIMESTAMP(7..9) a {@link TimestampNanos}; for STRING a String; for
     *     BINARY a {@link BinaryValue}
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

  /** A function call; null if an operand is null. */
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

  /** Conjunction. An operand is not evaluated for rows in which an earlier one is false. */
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

  /** Disjunction. An operand is not evaluated for rows in which an earlier one is true. */
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

  /**
   * The result of the first true condition; later conditions and other results are not evaluated.
   */
  public static final class Case extends TypedExpression {

    /**
     * @param results one result per condition, followed by the ELSE result; all of one type
     * @param nullable false only if no row is null, whatever the types of the results say; may be
     *     true even if no result is nullable
     */
    public Case(List<TypedExpression> conditions, List<TypedExpression> results, boolean nullable) {
      super(results.get(0).type(), nullable, concatenate(conditions, results), nullable);
    }

    /** A CASE that is nullable if a result is nullable. */
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

    /** One result per condition, followed by the ELSE result. */
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

  /** The value of a call, or null for rows in which it fails. */
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
