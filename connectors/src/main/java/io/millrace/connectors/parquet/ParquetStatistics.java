// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** The smallest and the largest value and the number of nulls of a column chunk, as in footers. */
final class ParquetStatistics {
  // Longer values, such as documents, would make the footer larger than they save.
  private static final int MAX_VALUE_BYTES = 1024;

  private ParquetStatistics() {}

  static org.apache.parquet.format.Statistics write(Statistics<?> statistics) {
    org.apache.parquet.format.Statistics written =
        new org.apache.parquet.format.Statistics().setNull_count(statistics.getNumNulls());
    if (!statistics.hasNonNullValue()) {
      return written;
    }
    // The reader's builder leaves out NaN, and takes zeros of both signs for equal.
    Statistics<?> ordered =
        Statistics.getBuilderForReading(statistics.type())
            .withMin(statistics.getMinBytes())
            .withMax(statistics.getMaxBytes())
            .withNumNulls(statistics.getNumNulls())
            .build();
    if (ordered.hasNonNullValue()
        && ordered.getMinBytes().length <= MAX_VALUE_BYTES
        && ordered.getMaxBytes().length <= MAX_VALUE_BYTES) {
      written.setMin_value(ordered.getMinBytes()).setMax_value(ordered.getMaxBytes());
    }
    return written;
  }

  /** What a footer says of a column chunk; without values where it does not know them. */
  static Statistics<?> read(PrimitiveType type, ColumnMetaData chunk) {
    Statistics.Builder builder = Statistics.getBuilderForReading(type);
    org.apache.parquet.format.Statistics written = chunk.getStatistics();
    if (written != null) {
      if (written.isSetNull_count()) {
        builder.withNumNulls(written.getNull_count());
      }
      boolean isOrdered =
          written.isSetMin_value()
              && written.isSetMax_value()
              && type.getPrimitiveTypeName() != PrimitiveTypeName.INT96;
      if (isOrdered) {
        builder.withMin(written.getMin_value()).withMax(written.getMax_value());
      }
    }
    return builder.build();
  }
}
