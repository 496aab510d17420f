// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.ListColumnBuilder;
import io.millrace.column.StructColumnBuilder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Assembles the rows of a column, or of a part of one, from the values of its leaves. Used by one
 * thread.
 */
abstract class ColumnAssembler {
  private final int definition;
  private final ColumnBuilder builder;
  private final List<LeafReader> leaves;

  private ColumnAssembler(ParquetColumn column, ColumnBuilder builder, List<LeafReader> leaves) {
    this.definition = column.definitionLevel();
    this.builder = builder;
    this.leaves = leaves;
  }

  /** Opens the chunk of a leaf. */
  interface LeafOpener {
    LeafReader open(ParquetColumn leaf) throws IOException;
  }

  /**
   * An assembler at the first row.
   *
   * @param builder what rows are appended to
   */
  static ColumnAssembler of(ParquetColumn column, ColumnBuilder builder, LeafOpener opener)
      throws IOException {
    if (column.isLeaf()) {
      return new LeafAssembler(column, builder, opener.open(column));
    }
    List<ColumnBuilder> builders =
        builder instanceof ListColumnBuilder list
            ? List.of(list.elements())
            : ((StructColumnBuilder) builder).fields();
    List<ColumnAssembler> children = new ArrayList<>();
    for (int i = 0; i < builders.size(); i++) {
      children.add(of(column.children().get(i), builders.get(i), opener));
    }
    return builder instanceof ListColumnBuilder list
        ? new ListAssembler(column, list, children.get(0))
        : new StructAssembler(column, (StructColumnBuilder) builder, children);
  }

  /**
   * Appends the next value of the column, which is a row of a column of the table.
   *
   * @throws IOException if the leaves have no more values, or are corrupt
   */
  final void append() throws IOException {
    if (first().definition() >= definition) {
      appendPresent();
    } else {
      builder.appendNull();
      skip();
    }
  }

  final LeafReader first() {
    return leaves.get(0);
  }

  final int definition() {
    return definition;
  }

  /** Moves all leaves past a value that has no parts. */
  final void skip() throws IOException {
    for (LeafReader leaf : leaves) {
      leaf.advance();
    }
  }

  abstract void appendPresent() throws IOException;

  private static final class LeafAssembler extends ColumnAssembler {
    private final ValueAppender values;

    LeafAssembler(ParquetColumn column, ColumnBuilder builder, LeafReader reader) {
      super(column, builder, List.of(reader));
      this.values = ValueAppender.of(column.element(), builder, reader);
    }

    @Override
    void appendPresent() throws IOException {
      values.append();
      first().advance();
    }
  }

  private static final class StructAssembler extends ColumnAssembler {
    private final StructColumnBuilder builder;
    private final List<ColumnAssembler> fields;

    StructAssembler(
        ParquetColumn column, StructColumnBuilder builder, List<ColumnAssembler> fields) {
      super(column, builder, fields.stream().flatMap(field -> field.leaves().stream()).toList());
      this.builder = builder;
      this.fields = fields;
    }

    @Override
    void appendPresent() throws IOException {
      for (ColumnAssembler field : fields) {
        field.append();
      }
      builder.appendStruct();
    }
  }

  private static final class ListAssembler extends ColumnAssembler {
    private final ListColumnBuilder builder;
    private final ColumnAssembler element;
    private final int repetition;

    ListAssembler(ParquetColumn column, ListColumnBuilder builder, ColumnAssembler element) {
      super(column, builder, element.leaves());
      this.builder = builder;
      this.element = element;
      this.repetition = column.repetitionLevel();
    }

    @Override
    void appendPresent() throws IOException {
      if (first().definition() == definition()) {
        skip();
      } else {
        do {
          element.append();
        } while (!first().isAtEnd() && first().repetition() >= repetition);
      }
      builder.appendList();
    }
  }

  final List<LeafReader> leaves() {
    return leaves;
  }
}
