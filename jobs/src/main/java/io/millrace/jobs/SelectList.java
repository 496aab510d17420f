package io.millrace.jobs;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.kernel.Cast;
import io.millrace.operators.transform.Projection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a select list: {@code column}, {@code CAST(column AS type)}, each with {@code AS name}. */
final class SelectList {
  private static final String NAME = "`?([\\p{L}_][\\p{L}\\p{N}_$]*)`?";
  private static final Pattern CAST =
      Pattern.compile(
          "(?i:CAST)\\s*\\(\\s*"
              + NAME
              + "\\s+(?i:AS)\\s+([^)]+(?:\\([^)]*\\))?)\\s*\\)"
              + "(?:\\s+(?i:AS)\\s+"
              + NAME
              + ")?");
  private static final Pattern COLUMN = Pattern.compile(NAME + "(?:\\s+(?i:AS)\\s+" + NAME + ")?");

  private SelectList() {}

  /**
   * The projections that {@code text} lists.
   *
   * @param typeParser the data type of an SQL type's text
   * @throws UsageException if an item does not parse, names an unknown column or a cast that is not
   *     supported
   */
  static List<Projection> parse(String text, Schema schema, Function<String, DataType> typeParser) {
    List<Projection> projections = new ArrayList<>();
    for (String item : split(text)) {
      projections.add(parseItem(item, schema, typeParser));
    }
    return projections;
  }

  private static Projection parseItem(
      String item, Schema schema, Function<String, DataType> typeParser) {
    Matcher cast = CAST.matcher(item);
    Matcher column = COLUMN.matcher(item);
    if (cast.matches()) {
      Field source = field(schema, cast.group(1));
      DataType target = typeParser.apply(cast.group(2).trim());
      if (!Cast.isSupported(source.type(), target)) {
        throw new UsageException(
            "cannot cast column '" + source.name() + "' from " + source.type() + " to " + target);
      }
      String name = cast.group(3) == null ? source.name() : cast.group(3);
      return new Projection(source.name(), new Field(name, target, source.nullable()));
    }
    if (column.matches()) {
      Field source = field(schema, column.group(1));
      String name = column.group(2) == null ? source.name() : column.group(2);
      return new Projection(source.name(), new Field(name, source.type(), source.nullable()));
    }
    throw new UsageException(
        "cannot read '"
            + item
            + "' in the select list; write a column or CAST(column AS type),"
            + " each with AS name if you like");
  }

  private static Field field(Schema schema, String name) {
    try {
      return schema.field(schema.indexOf(name));
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /** The items between the commas that are outside parentheses, trimmed. */
  static List<String> split(String text) {
    List<String> items = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        items.add(text.substring(start, i).trim());
        start = i + 1;
      }
    }
    items.add(text.substring(start).trim());
    return items;
  }
}
