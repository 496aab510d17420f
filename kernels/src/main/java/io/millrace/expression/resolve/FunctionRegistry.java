// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.CallSyntax;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.error.Suggestion;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** The functions and casts available to expressions, by SQL name. Immutable. */
@PublicEvolving
public final class FunctionRegistry {
  // Loaded as a service, because the function packages depend on this package.
  private static final class BuiltIn {
    static final FunctionRegistry INSTANCE =
        new FunctionRegistry(
            libraries().map(FunctionLibrary::definitions).flatMap(List::stream).toList(),
            libraries().map(FunctionLibrary::casts).flatMap(List::stream).toList(),
            List.of());

    private static Stream<FunctionLibrary> libraries() {
      return ServiceLoader.load(FunctionLibrary.class, FunctionRegistry.class.getClassLoader())
          .stream()
          .map(ServiceLoader.Provider::get);
    }
  }

  /** The syntax of the built-in functions. */
  public static final class BuiltInSyntax implements CallSyntax {
    @Override
    public Optional<String> toSql(String function, List<String> arguments) {
      return builtIn().find(function).map(definition -> definition.toSql(arguments));
    }
  }

  private final Map<String, FunctionDefinition> definitions;
  private final Map<String, FunctionDefinition> byName = new HashMap<>();
  private final List<CastRule> casts;
  private final List<String> ptxSources;

  private FunctionRegistry(
      List<FunctionDefinition> functions, List<CastRule> casts, List<String> ptxSources) {
    this.ptxSources = List.copyOf(ptxSources);
    Map<String, FunctionDefinition> inOrder = new LinkedHashMap<>();
    for (FunctionDefinition function : functions) {
      inOrder.put(function.name(), function);
      add(function.name(), function);
      function.aliases().forEach(alias -> add(alias, function));
    }
    this.definitions = Collections.unmodifiableMap(inOrder);
    this.casts = List.copyOf(casts);
  }

  private void add(String name, FunctionDefinition function) {
    if (byName.put(name, function) != null) {
      throw new IllegalArgumentException("two functions are called " + name);
    }
  }

  /** The built-in functions and casts. */
  public static FunctionRegistry builtIn() {
    return BuiltIn.INSTANCE;
  }

  /**
   * Returns a registry with {@code function} added.
   *
   * @param ptx PTX of the device functions that it calls, in the library's calling convention;
   *     empty if there are none
   * @throws IllegalArgumentException if the name is taken
   */
  public FunctionRegistry with(FunctionDefinition function, String ptx) {
    List<FunctionDefinition> functions = new ArrayList<>(definitions.values());
    functions.add(function);
    List<String> sources = new ArrayList<>(ptxSources);
    if (!ptx.isEmpty()) {
      sources.add(ptx);
    }
    return new FunctionRegistry(functions, casts, sources);
  }

  /** PTX of device functions outside the built-in library. */
  public List<String> ptxSources() {
    return ptxSources;
  }

  /** All definitions, grouped by family. */
  public Collection<FunctionDefinition> definitions() {
    return definitions.values();
  }

  /**
   * Finds a function by name or alias, ignoring case.
   *
   * @throws ExpressionException if it does not exist; the message suggests the nearest name
   */
  public FunctionDefinition function(String name) {
    String key = name.toUpperCase(Locale.ROOT);
    FunctionDefinition function = byName.get(key);
    if (function == null) {
      throw new ExpressionException(
          "there is no function " + key + Suggestion.of(key, byName.keySet()));
    }
    return function;
  }

  /** Finds a function by name or alias, ignoring case; empty if it does not exist. */
  public Optional<FunctionDefinition> find(String name) {
    return Optional.ofNullable(byName.get(name.toUpperCase(Locale.ROOT)));
  }

  /** Finds the cast from one type to another; empty if there is none. */
  public Optional<CastRule> cast(DataType from, DataType to) {
    return casts.stream().filter(rule -> rule.supports(from, to)).findFirst();
  }
}
