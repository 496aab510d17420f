// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.resolve.Signature.Parameter;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Random expressions of all functions and casts of a registry. Their schema has five columns for
 * each type that the functions accept: nullable columns that end with {@code _a} and {@code _b},
 * and NOT NULL columns that end with {@code _c}, {@code _d} and {@code _e}.
 */
public final class RandomExpressions {
  private static final List<String> NULLABLE = List.of("a", "b");
  private static final List<String> NOT_NULL = List.of("c", "d", "e");
  private static final List<String> SUFFIXES =
      Stream.concat(NULLABLE.stream(), NOT_NULL.stream()).toList();

  private static final List<DataType> CAST_TYPES =
      Stream.concat(
              DataTypes.flat().stream(), Stream.of(DataType.timestamp(0), DataType.decimal(10, 0)))
          .toList();

  /** Functions whose result may be too large for a test if the second argument is any integer. */
  private static final Set<String> GROWING = Set.of("REPEAT", "LPAD", "RPAD", "ROUND", "TRUNCATE");

  /**
   * Functions that may take 2^31 steps in Flink if the arguments after the first are any integers.
   */
  private static final Set<String> COUNTING = Set.of("INSTR");

  private static final int GREATEST_GROWTH = 20;
  private static final int MANY_CONSTANTS = 9;

  /**
   * A call of one function on columns and literals.
   *
   * @param function the function's name, or {@code CAST}, {@code TRY_CAST} or {@code CASE}
   */
  public record FunctionCall(String function, Expression expression) {}

  /**
   * @param example the index of the example literal, on which the result's type may depend
   */
  private record Producer(FunctionDefinition function, Signature signature, int example) {}

  private final Random random;
  private final ResolutionContext context;
  private final ExpressionValues values;
  private final Schema schema;
  private final ExpressionResolver resolver;
  private final Map<DataType, List<Producer>> producers = new LinkedHashMap<>();
  private final List<String> unresolved = new ArrayList<>();
  private final Map<DataType, List<DataType>> castSources = new LinkedHashMap<>();

  public RandomExpressions(Random random, ResolutionContext context) {
    this.random = random;
    this.context = context;
    this.values = new ExpressionValues(random);
    Set<DataType> types = types(context.functions());
    this.schema = schemaOf(types);
    this.resolver = new ExpressionResolver(schema, context);
    context.functions().definitions().forEach(this::addProducers);
    for (DataType to : CAST_TYPES) {
      for (DataType from : CAST_TYPES) {
        if (!from.equals(to) && context.functions().cast(from, to).isPresent()) {
          castSources.computeIfAbsent(to, key -> new ArrayList<>()).add(from);
        }
      }
    }
  }

  private void addProducers(FunctionDefinition function) {
    for (Signature signature : function.signatures()) {
      for (int example = 0; example < examples(signature); example++) {
        Expression call = call(function, signature, example, SUFFIXES);
        try {
          producers
              .computeIfAbsent(resolver.resolve(call).type(), key -> new ArrayList<>())
              .add(new Producer(function, signature, example));
        } catch (ExpressionException e) {
          if (!isOfBatch(call)) {
            unresolved.add(e.getMessage());
          }
        }
      }
    }
  }

  /** Whether the value belongs to a batch: the clock gives Flink another one. */
  private boolean isOfBatch(Expression call) {
    try {
      new ExpressionResolver(schema, context.withBatch()).resolve(call);
      return true;
    } catch (ExpressionException e) {
      return false;
    }
  }

  private static Set<DataType> types(FunctionRegistry functions) {
    Set<DataType> types = new LinkedHashSet<>(CAST_TYPES);
    for (FunctionDefinition function : functions.definitions()) {
      for (Signature signature : function.signatures()) {
        signature.parameters().stream().map(Parameter::type).forEach(types::add);
      }
    }
    return types;
  }

  private static Schema schemaOf(Set<DataType> types) {
    List<Field> fields = new ArrayList<>();
    for (DataType type : types) {
      for (String suffix : SUFFIXES) {
        fields.add(new Field(name(type, suffix), type, NULLABLE.contains(suffix)));
      }
    }
    return new Schema(fields);
  }

  private static String name(DataType type, String suffix) {
    String text = type.toString().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_");
    return text.replaceAll("_$", "") + "_" + suffix;
  }

  private static Expression column(DataType type, String suffix) {
    return Expressions.col(name(type, suffix));
  }

  /** The columns that the expressions read. */
  public Schema schema() {
    return schema;
  }

  /** A resolver for {@link #schema}. */
  public ExpressionResolver resolver() {
    return resolver;
  }

  /** For each signature that does not resolve, the reason; such signatures are left out. */
  public List<String> unresolved() {
    return unresolved;
  }

  /** Random rows of {@link #schema}. */
  public List<List<Object>> rows(int count) {
    return values.rows(schema, count);
  }

  /**
   * Calls of each function, with each of its signatures, on nullable and on NOT NULL columns and
   * with each of its example literals; IN and NOT IN with few and with many constants; and each
   * cast.
   */
  public List<FunctionCall> calls() {
    List<FunctionCall> calls = new ArrayList<>();
    producers.values().stream().flatMap(List::stream).forEach(call -> addCalls(call, calls));
    CAST_TYPES.stream().filter(RandomExpressions::hasLists).forEach(to -> addLists(to, calls));
    castSources.forEach(
        (to, sources) -> {
          for (DataType from : sources) {
            Expression notNull = column(from, "c");
            calls.add(new FunctionCall("CAST", new Expression.Cast(notNull, to, false)));
            Expression nullable = column(from, "a");
            calls.add(new FunctionCall("TRY_CAST", new Expression.Cast(nullable, to, true)));
          }
        });
    return calls;
  }

  private void addCalls(Producer producer, List<FunctionCall> calls) {
    FunctionDefinition function = producer.function();
    Signature signature = producer.signature();
    Expression nullable = call(function, signature, producer.example(), SUFFIXES);
    calls.add(new FunctionCall(function.name(), nullable));
    if (producer.example() == 0 && !signature.parameters().isEmpty()) {
      Expression notNull = call(function, signature, 0, NOT_NULL);
      calls.add(new FunctionCall(function.name(), notNull));
    }
  }

  /**
   * Whether Flink finds constants of the type in lists: it compares bytes by identity, and what
   * instants are written as may be null to it, since SQL has no literals of them.
   */
  private static boolean hasLists(DataType type) {
    return type.id() != TypeId.BINARY && !type.withTimeZone();
  }

  private void addLists(DataType type, List<FunctionCall> calls) {
    for (int constants : new int[] {2, MANY_CONSTANTS}) {
      List<Expression> list = new ArrayList<>();
      // Functions that distinguish -0.0 and NaN.
      if (type.isFloatingPoint()) {
        list.add(
            new Expression.Literal(
                type.id() == TypeId.FLOAT32 ? (Serializable) 0f : (Serializable) 0.0, type));
      }
      while (list.size() < constants) {
        list.add(new Expression.Literal(values.literal(type), type));
      }
      for (String function : List.of("IN", "NOT IN")) {
        for (String suffix : List.of("a", "c")) {
          List<Expression> arguments = new ArrayList<>(List.of(column(type, suffix)));
          arguments.addAll(list);
          calls.add(new FunctionCall(function, new Expression.Call(function, arguments)));
        }
      }
    }
  }

  private static int examples(Signature signature) {
    return signature.parameters().stream()
        .mapToInt(parameter -> parameter.literals().size())
        .reduce(1, Math::max);
  }

  private Expression call(
      FunctionDefinition function, Signature signature, int example, List<String> suffixes) {
    List<Expression> arguments = new ArrayList<>();
    int columns = 0;
    for (Parameter parameter : signature.parameters()) {
      if (!parameter.literals().isEmpty()) {
        arguments.add(literal(parameter, example));
      } else if (!arguments.isEmpty() && grows(function, parameter)) {
        arguments.add(growth(parameter));
      } else {
        Expression column = column(parameter.type(), suffixes.get(columns++ % suffixes.size()));
        arguments.add(bounded(function, parameter, column));
      }
    }
    return new Expression.Call(function.name(), arguments);
  }

  private static Expression literal(Parameter parameter, int example) {
    List<?> literals = parameter.literals();
    return new Expression.Literal(
        parameter.literals().get(example % literals.size()), parameter.type());
  }

  private static boolean grows(FunctionDefinition function, Parameter parameter) {
    return GROWING.contains(function.name()) && parameter.type().isInteger();
  }

  private Expression growth(Parameter parameter) {
    return new Expression.Literal((long) random.nextInt(GREATEST_GROWTH), parameter.type());
  }

  private static Expression bounded(
      FunctionDefinition function, Parameter parameter, Expression argument) {
    boolean counts = COUNTING.contains(function.name()) && parameter.type().isInteger();
    Expression bound = new Expression.Literal((long) GREATEST_GROWTH, parameter.type());
    return counts ? new Expression.Call("MOD", List.of(argument, bound)) : argument;
  }

  /**
   * A random expression.
   *
   * @param depth the maximum depth of nested calls
   */
  public Expression generate(int depth) {
    List<DataType> types = List.copyOf(producers.keySet());
    return generate(types.get(random.nextInt(types.size())), depth, true);
  }

  /**
   * @param readsColumns whether the expression must read a column, so that a planner cannot fold it
   */
  private Expression generate(DataType type, int depth, boolean readsColumns) {
    boolean hasColumns = schema.names().contains(name(type, "a"));
    if (depth == 0 && hasColumns) {
      return leaf(type, readsColumns);
    }
    int choice = random.nextInt(10);
    if (choice == 0 && hasColumns) {
      return leaf(type, readsColumns);
    } else if (choice == 1 && hasColumns) {
      return branches(type, depth);
    } else if (choice == 2 && castSources.containsKey(type)) {
      List<DataType> sources = castSources.get(type);
      DataType source = sources.get(random.nextInt(sources.size()));
      boolean orNull = random.nextInt(4) != 0;
      return new Expression.Cast(generate(source, depth - 1, true), type, orNull);
    }
    List<Producer> candidates = producers.getOrDefault(type, List.of());
    if (candidates.isEmpty()) {
      return leaf(type, readsColumns);
    }
    return call(candidates.get(random.nextInt(candidates.size())), depth);
  }

  private Expression leaf(DataType type, boolean readsColumns) {
    int choice = random.nextInt(20);
    if (readsColumns || choice > 5 || type.withTimeZone() || !type.id().isScalar()) {
      return column(type, SUFFIXES.get(random.nextInt(SUFFIXES.size())));
    }
    return random.nextInt(6) == 0
        ? Expressions.nullOf(type)
        : new Expression.Literal(values.literal(type), type);
  }

  private Expression branches(DataType type, int depth) {
    List<Expression> conditions = new ArrayList<>();
    List<Expression> results = new ArrayList<>();
    results.add(generate(type, depth - 1, true));
    for (int i = random.nextInt(2); i >= 0; i--) {
      conditions.add(another(conditions, DataType.BOOL, depth, true));
      results.add(
          random.nextInt(8) == 0 ? Expressions.nullOf(type) : another(results, type, depth, false));
    }
    return new Expression.Case(conditions, results);
  }

  private Expression call(Producer producer, int depth) {
    List<Expression> arguments = new ArrayList<>();
    boolean readsColumns = true;
    for (Parameter parameter : producer.signature().parameters()) {
      if (!parameter.literals().isEmpty()) {
        arguments.add(literal(parameter, producer.example()));
      } else if (!arguments.isEmpty() && grows(producer.function(), parameter)) {
        arguments.add(growth(parameter));
      } else if (readsColumns) {
        arguments.add(generate(parameter.type(), Math.max(0, depth - 1), true));
        readsColumns = false;
      } else {
        // A constant position has to be 1 or more.
        boolean isPosition = producer.function().name().equals("ITEM");
        Expression argument = another(arguments, parameter.type(), depth, isPosition);
        arguments.add(bounded(producer.function(), parameter, argument));
      }
    }
    return new Expression.Call(producer.function().name(), arguments);
  }

  /**
   * An expression that differs from all {@code others}, because a planner would simplify equal
   * expressions. Its depth is random, so that trees stay narrow.
   */
  private Expression another(
      List<Expression> others, DataType type, int depth, boolean readsColumns) {
    Expression expression;
    do {
      expression = generate(type, random.nextInt(Math.max(1, depth)), readsColumns);
    } while (others.contains(expression));
    return expression;
  }

  /** The names of the expression's functions and casts, as in {@link FunctionCall}. */
  public static Set<String> functionsOf(Expression expression) {
    Set<String> names = new LinkedHashSet<>();
    collect(expression, names);
    return names;
  }

  private static void collect(Expression expression, Set<String> names) {
    if (expression instanceof Expression.Call call) {
      names.add(call.function());
    } else if (expression instanceof Expression.Cast cast) {
      names.add(cast.orNull() ? "TRY_CAST" : "CAST");
    } else if (expression instanceof Expression.Case) {
      names.add("CASE");
    }
    operandsOf(expression).forEach(operand -> collect(operand, names));
  }

  /** The operands of the expression in writing order; empty for a column or literal. */
  public static List<Expression> operandsOf(Expression expression) {
    if (expression instanceof Expression.Call call) {
      return call.arguments();
    } else if (expression instanceof Expression.Cast cast) {
      return List.of(cast.operand());
    } else if (expression instanceof Expression.Case branches) {
      return Stream.concat(branches.conditions().stream(), branches.results().stream()).toList();
    }
    return List.of();
  }
}
