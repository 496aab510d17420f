// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.ListType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;

/**
 * The columns of a Parquet file: a tree of declarations, which the footer lists root first.
 *
 * @param columns the top of the tree
 */
record ParquetSchema(List<Node> columns) {

  /** A declaration and those below it. */
  record Node(SchemaElement element, List<Node> children) {
    String name() {
      return element.getName();
    }

    boolean isRepeated() {
      return element.getRepetition_type() == FieldRepetitionType.REPEATED;
    }

    boolean isRequired() {
      return element.getRepetition_type() == FieldRepetitionType.REQUIRED;
    }
  }

  /** The columns that a footer lists. */
  static ParquetSchema of(List<SchemaElement> elements) {
    Iterator<SchemaElement> rest = elements.iterator();
    return new ParquetSchema(children(rest.next(), rest));
  }

  private static List<Node> children(SchemaElement parent, Iterator<SchemaElement> rest) {
    List<Node> children = new ArrayList<>();
    for (int i = 0; i < parent.getNum_children(); i++) {
      SchemaElement child = rest.next();
      children.add(new Node(child, children(child, rest)));
    }
    return children;
  }

  /**
   * The declaration of tables. A DICTIONARY becomes a column of its values.
   *
   * @throws IllegalArgumentException if a column has a MAP
   */
  static ParquetSchema of(Schema schema) {
    return new ParquetSchema(schema.fields().stream().map(ParquetSchema::node).toList());
  }

  private static Node node(Field field) {
    SchemaElement element =
        new SchemaElement(field.name())
            .setRepetition_type(
                field.nullable() ? FieldRepetitionType.OPTIONAL : FieldRepetitionType.REQUIRED);
    DataType type = field.type();
    switch (type.id()) {
      case DICTIONARY -> {
        DataType values = type.fields().get(0).type();
        return node(new Field(field.name(), values, field.nullable()));
      }
      case STRUCT -> {
        return group(element, type.fields().stream().map(ParquetSchema::node).toList());
      }
      case LIST -> {
        if (type.isMap()) {
          throw new IllegalArgumentException("column '" + field.name() + "' has the type " + type);
        }
        Field listed = type.fields().get(0);
        Node repeated =
            group(
                new SchemaElement("list").setRepetition_type(FieldRepetitionType.REPEATED),
                List.of(node(new Field("element", listed.type(), listed.nullable()))));
        element
            .setLogicalType(LogicalType.LIST(new ListType()))
            .setConverted_type(ConvertedType.LIST);
        return group(element, List.of(repeated));
      }
      default -> {
        ParquetType.declare(element, type);
        return new Node(element, List.of());
      }
    }
  }

  private static Node group(SchemaElement element, List<Node> children) {
    return new Node(element.setNum_children(children.size()), children);
  }

  /** As a footer lists them. */
  List<SchemaElement> elements() {
    List<SchemaElement> elements = new ArrayList<>();
    elements.add(new SchemaElement("schema").setNum_children(columns.size()));
    columns.forEach(column -> list(column, elements));
    return elements;
  }

  private static void list(Node node, List<SchemaElement> elements) {
    elements.add(node.element());
    node.children().forEach(child -> list(child, elements));
  }

  /**
   * The columns with these names, in this order.
   *
   * @throws IllegalArgumentException naming the columns that there are
   */
  ParquetSchema select(List<String> names) {
    return new ParquetSchema(
        names.stream()
            .map(
                name ->
                    columns.stream()
                        .filter(column -> column.name().equals(name))
                        .findFirst()
                        .orElseThrow(
                            () ->
                                new IllegalArgumentException(
                                    "there is no column '"
                                        + name
                                        + "'; the columns are "
                                        + String.join(", ", names()))))
            .toList());
  }

  List<String> names() {
    return columns.stream().map(Node::name).toList();
  }

  /** As the library for pages declares them. */
  MessageType messageType() {
    return new MessageType("schema", columns.stream().map(ParquetSchema::libraryType).toList());
  }

  private static org.apache.parquet.schema.Type libraryType(Node node) {
    SchemaElement element = node.element();
    Repetition repetition = Repetition.valueOf(element.getRepetition_type().name());
    if (!element.isSetType()) {
      return new org.apache.parquet.schema.GroupType(
          repetition,
          node.name(),
          node.children().stream().map(ParquetSchema::libraryType).toList());
    }
    // Other annotations change neither pages nor the order of statistics.
    DataType type = ParquetType.dataType(element).orElse(DataType.BINARY);
    LogicalTypeAnnotation annotation =
        type.isDecimal() ? LogicalTypeAnnotation.decimalType(type.scale(), type.precision()) : null;
    return Types.primitive(libraryName(element.getType()), repetition)
        .length(element.getType_length())
        .as(annotation)
        .named(node.name());
  }

  private static PrimitiveTypeName libraryName(Type type) {
    return type == Type.BYTE_ARRAY
        ? PrimitiveTypeName.BINARY
        : PrimitiveTypeName.valueOf(type.name());
  }

  /** The type of the values of a leaf, as footers name it. */
  static Type physicalType(PrimitiveType type) {
    PrimitiveTypeName name = type.getPrimitiveTypeName();
    return name == PrimitiveTypeName.BINARY ? Type.BYTE_ARRAY : Type.valueOf(name.name());
  }

  /**
   * The columns as columns of tables.
   *
   * @throws IllegalArgumentException naming a column with values that no data type holds
   */
  List<ParquetColumn> tableColumns() {
    MessageType message = messageType();
    return columns.stream().map(node -> column(node, List.of(), 0, 0, message)).toList();
  }

  /**
   * The schema of tables of these columns.
   *
   * @throws IllegalArgumentException as {@link #tableColumns}
   */
  Schema tableSchema() {
    return new Schema(tableColumns().stream().map(ParquetColumn::field).toList());
  }

  private static ParquetColumn column(
      Node node, List<String> parents, int definition, int repetition, MessageType message) {
    List<String> path = Stream.concat(parents.stream(), Stream.of(node.name())).toList();
    if (node.isRepeated()) {
      ParquetColumn item = value(node, path, definition + 1, repetition + 1, false, message);
      return list(node, item, definition, repetition + 1, false);
    }
    boolean isNullable = !node.isRequired();
    int present = definition + (isNullable ? 1 : 0);
    return isList(node)
        ? list(
            node,
            item(node.children().get(0), path, present, repetition, message),
            present,
            repetition + 1,
            isNullable)
        : value(node, path, present, repetition, isNullable, message);
  }

  private static ParquetColumn list(
      Node node, ParquetColumn item, int definition, int repetition, boolean isNullable) {
    Field listed = new Field("element", item.field().type(), item.field().nullable());
    DataType type = new DataType(TypeId.LIST, 0, 0, false, List.of(listed));
    Field field = new Field(node.name(), type, isNullable);
    return new ParquetColumn(field, definition, repetition, List.of(item), null, null);
  }

  // A MAP is a list of keys and values.
  private static boolean isList(Node node) {
    SchemaElement element = node.element();
    boolean isAnnotated =
        element.isSetLogicalType()
            ? element.getLogicalType().isSetLIST() || element.getLogicalType().isSetMAP()
            : element.getConverted_type() == ConvertedType.LIST
                || element.getConverted_type() == ConvertedType.MAP
                || element.getConverted_type() == ConvertedType.MAP_KEY_VALUE;
    return isAnnotated && node.children().size() == 1 && node.children().get(0).isRepeated();
  }

  // The rules by which the specification tells lists of old writers.
  private static ParquetColumn item(
      Node repeated, List<String> path, int definition, int repetition, MessageType message) {
    List<String> itemPath = Stream.concat(path.stream(), Stream.of(repeated.name())).toList();
    String listName = path.get(path.size() - 1);
    boolean isItem =
        repeated.children().size() != 1
            || repeated.name().equals("array")
            || repeated.name().equals(listName + "_tuple");
    return isItem
        ? value(repeated, itemPath, definition + 1, repetition + 1, false, message)
        : column(repeated.children().get(0), itemPath, definition + 1, repetition + 1, message);
  }

  private static ParquetColumn value(
      Node node,
      List<String> path,
      int definition,
      int repetition,
      boolean isNullable,
      MessageType message) {
    SchemaElement element = node.element();
    if (element.isSetType()) {
      ColumnDescriptor descriptor = message.getColumnDescription(path.toArray(String[]::new));
      DataType type =
          ParquetType.dataType(element)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "column '"
                              + String.join(".", path)
                              + "' has the type "
                              + ParquetType.describe(element)
                              + ", which is not supported"));
      Field field = new Field(node.name(), type, isNullable);
      return new ParquetColumn(field, definition, repetition, List.of(), element, descriptor);
    }
    List<ParquetColumn> fields =
        node.children().stream()
            .map(child -> column(child, path, definition, repetition, message))
            .toList();
    DataType type =
        DataType.struct(fields.stream().map(ParquetColumn::field).toArray(Field[]::new));
    Field field = new Field(node.name(), type, isNullable);
    return new ParquetColumn(field, definition, repetition, fields, null, null);
  }
}
