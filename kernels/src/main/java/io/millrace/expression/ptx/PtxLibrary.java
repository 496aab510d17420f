// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The functions of {@code cuda/function}, compiled ahead of time, as PTX text. Generated modules
 * include each function they call together with the variables and functions it uses. Immutable.
 */
@Internal
public final class PtxLibrary {
  private static final String FOLDER = "/io/millrace/cuda/";
  private static final List<String> HEADERS = List.of(".version", ".target", ".address_size");
  private static final Pattern FILE = Pattern.compile("\\./(function/\\w+\\.ptx)$");
  private static final Pattern FUNCTION =
      Pattern.compile("\\.func\\b(?:\\s*\\([^)]*\\))?\\s*([\\w$]+)");
  private static final Pattern VARIABLE = Pattern.compile("([\\w$]+)(?:\\[\\d*\\])?\\s*(?:=|;)");
  private static final Pattern RESULT = Pattern.compile("\\.func\\s*\\(([^)]*)\\)");
  private static final Pattern PARAMETER =
      Pattern.compile("\\.param\\s+((?:\\.\\w+\\s+(?:\\d+\\s+)?)+)[A-Za-z_$][\\w$]*(\\[\\d+\\])?");
  private static final Pattern LABEL = Pattern.compile("\\$L_\\w+");
  private static final Pattern NAME = Pattern.compile("[\\w$]+");

  private static final class BuiltIn {
    static final PtxLibrary INSTANCE = new PtxLibrary(sources());
  }

  /** A top-level statement of PTX: a function or a variable. */
  private record Item(String name, String text, boolean isFunction, boolean isWeak) {

    // Equality ignores labels, which the compiler numbers through the file.
    boolean isSame(Item other) {
      return LABEL.matcher(text).replaceAll("").equals(LABEL.matcher(other.text).replaceAll(""));
    }
  }

  private final Map<String, Item> items = new HashMap<>();

  private PtxLibrary(List<String> sources) {
    sources.forEach(this::parse);
  }

  /** The library that ships with Millrace. */
  public static PtxLibrary builtIn() {
    return BuiltIn.INSTANCE;
  }

  /**
   * The built-in functions and the functions in {@code sources}.
   *
   * @param sources PTX of functions with the library's calling convention
   * @throws IllegalArgumentException if a name is defined twice with different meanings
   */
  public static PtxLibrary with(Collection<String> sources) {
    if (sources.isEmpty()) {
      return builtIn();
    }
    PtxLibrary library = new PtxLibrary(sources());
    sources.forEach(library::addAll);
    return library;
  }

  private void addAll(String source) {
    PtxLibrary added = new PtxLibrary(List.of(source));
    for (Item item : added.items.values()) {
      Item known = items.putIfAbsent(item.name(), item);
      if (known != null && !item.isWeak() && !known.isSame(item)) {
        throw new IllegalArgumentException("two device functions are called " + item.name());
      }
    }
  }

  private static List<String> sources() {
    List<String> sources = new ArrayList<>();
    for (String line : resource("kernels.sha256").split("\n", -1)) {
      Matcher file = FILE.matcher(line);
      if (file.find()) {
        sources.add(resource(file.group(1)));
      }
    }
    return sources;
  }

  private static String resource(String name) {
    try (InputStream stream = PtxLibrary.class.getResourceAsStream(FOLDER + name)) {
      if (stream == null) {
        throw new IllegalStateException("missing resource " + FOLDER + name);
      }
      return new String(stream.readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void parse(String source) {
    StringBuilder statement = new StringBuilder();
    boolean hasBody = false;
    for (String line : source.split("\n", -1)) {
      int comment = line.indexOf("//");
      String code = comment < 0 ? line : line.substring(0, comment);
      boolean isBetween = statement.length() == 0 && code.isBlank();
      if (!isBetween && HEADERS.stream().noneMatch(code::startsWith)) {
        statement.append(code).append('\n');
        hasBody |= code.startsWith("{");
        // A function ends with a brace at the start of a line, any other statement with a
        // semicolon.
        if (hasBody ? code.startsWith("}") : code.stripTrailing().endsWith(";")) {
          add(statement.toString());
          statement.setLength(0);
          hasBody = false;
        }
      }
    }
  }

  private void add(String statement) {
    boolean isWeak = statement.stripLeading().startsWith(".weak");
    String text = statement.replaceFirst("\\.visible\\s+|\\.weak\\s+", "");
    Matcher function = FUNCTION.matcher(text);
    boolean isFunction = function.find();
    if (isFunction && !text.contains("{")) {
      return; // a prototype: its definition is elsewhere
    }
    Matcher variable = VARIABLE.matcher(text);
    if (isFunction) {
      items.put(function.group(1), new Item(function.group(1), text, true, isWeak));
    } else if (variable.find()) {
      items.put(variable.group(1), new Item(variable.group(1), text, false, isWeak));
    }
  }

  public boolean contains(String function) {
    return items.containsKey(function);
  }

  /** The text of the functions and everything they use, definitions before uses. */
  String textOf(Collection<String> functions) {
    Set<String> ordered = new LinkedHashSet<>();
    functions.forEach(function -> collect(function, ordered));
    StringBuilder text = new StringBuilder();
    ordered.forEach(name -> text.append(items.get(name).text()).append('\n'));
    return text.toString();
  }

  private void collect(String name, Set<String> ordered) {
    if (ordered.contains(name)) {
      return;
    }
    Matcher names = NAME.matcher(items.get(name).text());
    while (names.find()) {
      String used = names.group();
      if (!used.equals(name) && items.containsKey(used)) {
        collect(used, ordered);
      }
    }
    ordered.add(name);
  }

  /**
   * The declared result type of a function, such as {@code .b32} or {@code .align 8 .b8 [16]}.
   *
   * @return empty if the function returns nothing
   * @throws IllegalStateException if the function does not exist
   */
  Optional<String> result(String function) {
    Matcher result = RESULT.matcher(header(function));
    return result.find() ? Optional.of(declared(result.group(1)).get(0)) : Optional.empty();
  }

  /** The declared parameter types of a function. */
  List<String> parameters(String function) {
    String header = header(function);
    return declared(header.substring(header.lastIndexOf(" " + function + "(")));
  }

  private String header(String function) {
    Item item = items.get(function);
    if (item == null || !item.isFunction()) {
      throw new IllegalStateException("there is no device function " + function);
    }
    return item.text().substring(0, item.text().indexOf('{'));
  }

  private static List<String> declared(String declarations) {
    List<String> parameters = new ArrayList<>();
    Matcher parameter = PARAMETER.matcher(declarations);
    while (parameter.find()) {
      String array = parameter.group(2);
      parameters.add(parameter.group(1).strip() + (array == null ? "" : " " + array));
    }
    return parameters;
  }
}
