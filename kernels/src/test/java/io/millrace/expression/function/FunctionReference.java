// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.resolve.Signature.Parameter;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DataTypes;
import io.millrace.testing.ExampleCalls;
import io.millrace.testing.HostReasons;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The pages of the function reference, generated from the function registry. */
final class FunctionReference {
  private static final String HEADER =
      "<!-- Made from the function registry by `mvn test -pl kernels -Dtest=FunctionReferenceTest"
          + " -Dmillrace.reference=write`. -->\n";
  private static final String ON_DEVICE = "device";
  private static final String PLANNER =
      """

      ## Where Flink's planner means something else

      An expression means here what it says. Flink's planner makes other expressions of some, and the code that it
      generates trusts in NOT NULL:

      - A call with the literal NULL, and `IS NULL` of a call, do not evaluate the arguments: Flink gives a result for
        rows that fail here, such as `(1 / zero) IS NULL`.
      - `NOT (a < b)` may become `a >= b`, and `x = x` TRUE, which is something else for NaN.
      - What overflows is null though its operands are NOT NULL, such as a DECIMAL or an LPAD. A call of it is null
        here; Flink computes with a value that is not there.
      - A FLOAT literal that is cast to DOUBLE keeps the digits that it was written with.
      - A cast to text between two other casts may be left out, and so may a FLOOR or CEIL to a unit within another.
      """;

  /** A group of calls with arguments of the same form. */
  private record Form(String arguments, String result, String where) {}

  private final FunctionRegistry functions;
  private final ResolutionContext context;

  FunctionReference(FunctionRegistry functions) {
    this.functions = functions;
    this.context = new ResolutionContext(ResolutionContext.DEFAULT.zone(), functions).withBatch();
  }

  /** Pages by file name: one per family, and the {@code README.md} with an overview. */
  Map<String, String> pages() {
    Map<String, String> pages = new LinkedHashMap<>();
    StringBuilder index = new StringBuilder(HEADER);
    index.append("# Functions\n\n");
    index.append(
        "The meaning of each is that of Flink 2.3 SQL at run time. A function runs on the device"
            + " where it gives the same bits there; an expression with one that does not is"
            + " evaluated by the host, which every function can.\n\n"
            + "SQL calls a function as it is written below its name. In Java it is"
            + " `call(\"NAME\", ...)`, with the arguments in the same order and units as texts:"
            + " `call(\"EXTRACT\", \"YEAR\", col(\"ts\"))`. A function takes all types that the ones"
            + " in the tables stand for: a DECIMAL those of up to 9, 18 or 38 digits, a TIMESTAMP"
            + " those of up to 3, 6 or 9 digits of a second; and other numbers, which are cast.\n\n");
    index.append("| family | functions | on the device |\n|---|---:|---:|\n");
    int all = 0;
    int onDevice = 0;
    for (FunctionFamily family : FunctionFamily.values()) {
      List<FunctionDefinition> definitions =
          functions.definitions().stream().filter(f -> f.family() == family).toList();
      if (definitions.isEmpty() && family != FunctionFamily.CAST) {
        continue;
      }
      String file = family.name().toLowerCase(Locale.ROOT) + ".md";
      pages.put(file, page(family, definitions));
      int extra = family == FunctionFamily.CAST ? 2 : family == FunctionFamily.CONDITIONAL ? 1 : 0;
      int count = definitions.size() + extra;
      int device =
          (int) definitions.stream().filter(f -> ExampleCalls.runsOnDevice(f, context)).count()
              + extra;
      index.append(
          String.format(
              Locale.ROOT, "| [%s](%s) | %d | %d |\n", family.title(), file, count, device));
      all += count;
      onDevice += device;
    }
    index.append(String.format(Locale.ROOT, "| all, without aliases | %d | %d |\n", all, onDevice));
    index.append(PLANNER);
    pages.put("README.md", index.toString());
    return pages;
  }

  private String page(FunctionFamily family, List<FunctionDefinition> definitions) {
    StringBuilder page = new StringBuilder(HEADER);
    page.append("# ").append(family.title()).append("\n");
    if (family == FunctionFamily.CONDITIONAL) {
      page.append(
          "\n## CASE\n\n`CASE WHEN a THEN b ... ELSE c END`: the result of the first condition that"
              + " is true; later ones are not evaluated. Results are cast to their common type."
              + " Runs on the device.\n");
    } else if (family == FunctionFamily.CAST) {
      appendCasts(page);
    }
    definitions.forEach(definition -> append(page, definition));
    return page.toString();
  }

  private void append(StringBuilder page, FunctionDefinition function) {
    page.append("\n## ").append(function.name()).append("\n\n");
    page.append(written(function)).append("  \n").append(function.description()).append("\n");
    if (!function.aliases().isEmpty()) {
      page.append("Also called ").append(String.join(", ", function.aliases())).append(".\n");
    }
    Set<String> units = units(function);
    if (units.size() > 1) {
      page.append("Units: ").append(String.join(", ", units)).append(".\n");
    }
    if (!function.differences().isEmpty()) {
      page.append("Not as in Flink: ").append(function.differences()).append("\n");
    }
    page.append("\n| arguments | result | runs on |\n|---|---|---|\n");
    forms(function).forEach((form, types) -> append(page, form, types));
  }

  /** Writes a single type in place of T; several types follow the form. */
  private static void append(StringBuilder page, Form form, Set<String> types) {
    String arguments = form.arguments();
    String result = form.result();
    if (types.size() == 1) {
      String type = types.iterator().next();
      arguments = arguments.replaceAll("\\bT\\b", type);
      result = result.equals("T") ? type : result;
    } else if (!types.isEmpty()) {
      arguments += "; T is " + String.join(", ", types);
    }
    page.append(
        String.format(
            Locale.ROOT, "| %s | %s | %s |\n", escape(arguments), result, escape(form.where())));
  }

  private static String escape(String text) {
    return text.replace("|", "\\|");
  }

  private static String written(FunctionDefinition function) {
    Set<String> texts = new LinkedHashSet<>();
    for (Signature signature : function.signatures()) {
      List<String> arguments = new ArrayList<>();
      for (int i = 0; i < signature.parameters().size(); i++) {
        arguments.add(argument(signature.parameters().get(i), i));
      }
      texts.add("`" + function.toSql(arguments) + "`");
    }
    return String.join(", ", texts);
  }

  /** A letter; or the literal, of a parameter that takes but one word. */
  private static String argument(Parameter parameter, int index) {
    boolean isWord =
        parameter.literals().size() == 1
            && parameter.literals().get(0).toString().matches("[A-Z_]{2,}");
    return isWord ? "'" + parameter.literals().get(0) + "'" : String.valueOf((char) ('a' + index));
  }

  /** The unit literals of a function that takes units of time. */
  private static Set<String> units(FunctionDefinition function) {
    Set<String> units = new LinkedHashSet<>();
    for (Signature signature : function.signatures()) {
      for (Parameter parameter : signature.parameters()) {
        parameter.literals().stream()
            .map(String::valueOf)
            .filter(literal -> function.family() == FunctionFamily.TEMPORAL)
            .filter(literal -> literal.matches("[A-Z]{2,}"))
            .forEach(units::add);
      }
    }
    return units;
  }

  /** The forms of a function's calls, each with the types that T stands for. */
  private Map<Form, Set<String>> forms(FunctionDefinition function) {
    Map<Form, Set<String>> forms = new LinkedHashMap<>();
    for (Signature signature : function.signatures()) {
      TypedExpression call = ExampleCalls.of(function, signature, context);
      List<DataType> types = signature.parameters().stream().map(Parameter::type).toList();
      Optional<DataType> shared = types.stream().findFirst();
      String arguments =
          signature.parameters().stream()
              .map(parameter -> text(parameter, shared))
              .collect(Collectors.joining(", "));
      boolean givesShared = shared.isPresent() && shared.get().equals(call.type());
      Form form = new Form(arguments, givesShared ? "T" : call.type().toString(), where(call));
      Set<String> sharedTypes = forms.computeIfAbsent(form, key -> new LinkedHashSet<>());
      shared.ifPresent(type -> sharedTypes.add(type.toString()));
    }
    return forms;
  }

  private static String text(Parameter parameter, Optional<DataType> shared) {
    String type =
        shared.isPresent() && parameter.type().equals(shared.get())
            ? "T"
            : parameter.type().toString();
    return parameter.literals().isEmpty() ? type : type + " literal";
  }

  private static String where(TypedExpression expression) {
    Set<String> reasons = HostReasons.of(expression);
    return reasons.isEmpty() ? ON_DEVICE : "host: " + String.join("; ", reasons);
  }

  private void appendCasts(StringBuilder page) {
    page.append(
        "\n## CAST, TRY_CAST\n\n`CAST(a AS type)`: the value in another type; where it has none the"
            + " row fails. `TRY_CAST(a AS type)` gives null there.  \n"
            + "Not as in Flink: TRY_CAST of NaN and infinities to DECIMAL is null, and does not fail."
            + " A timestamp of fewer digits never keeps more of them, which Flink's does until it is"
            + " stored where its fraction begins with zeros.\n\n");
    page.append("| from | to, on the device | to, on the host |\n|---|---|---|\n");
    for (DataType from : DataTypes.flat()) {
      List<String> device = new ArrayList<>();
      List<String> host = new ArrayList<>();
      for (DataType to : DataTypes.flat()) {
        if (!from.equals(to) && functions.cast(from, to).isPresent()) {
          String where = where(cast(from, to));
          (where.equals(ON_DEVICE) ? device : host).add(to.toString());
        }
      }
      page.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %s |\n",
              from,
              String.join(", ", device),
              String.join(", ", host)));
    }
  }

  private TypedExpression cast(DataType from, DataType to) {
    return new ExpressionResolver(Schema.of(Field.of("a", from)), context)
        .resolve(Expressions.col("a").cast(to));
  }
}
