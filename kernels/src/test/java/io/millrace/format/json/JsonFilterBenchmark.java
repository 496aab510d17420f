// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static io.millrace.expression.Expressions.col;

import io.millrace.calc.Calc;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.RecordReaderBenchmark;
import io.millrace.memory.MemoryResource;
import java.util.Optional;
import org.openjdk.jmh.annotations.Param;

/** Reads bids from lines of JSON, and keeps some: in the reader, or by a calc behind it. */
public class JsonFilterBenchmark extends RecordReaderBenchmark {
  private static final int FIRST_AUCTION = 1000;
  private static final int AUCTIONS_OF_PERCENT = 10;

  @Param({"1", "10", "50", "90", "100"})
  public int keptPercent;

  @Param({"true", "false"})
  public boolean inReader;

  @Override
  protected RecordReader open(DeviceStream stream, MemoryResource memory) {
    Schema schema = JsonBidLines.SCHEMA;
    Expression condition = col("auction").lt(FIRST_AUCTION + keptPercent * AUCTIONS_OF_PERCENT);
    if (inReader) {
      RecordFilter filter = RecordFilter.of(condition, ExpressionSettings.DEFAULT);
      return new JsonReader(schema, Optional.of(filter), stream, memory);
    }
    Calc calc =
        Calc.of(
            schema,
            Optional.of(condition),
            schema.names().stream().map(Expressions::col).toList(),
            ResolutionContext.DEFAULT);
    return new FilteringReader(new JsonReader(schema, stream, memory), calc, stream, memory);
  }

  /** Filters the rows of a reader by a calc. */
  private record FilteringReader(
      RecordReader reader, Calc calc, DeviceStream stream, MemoryResource memory)
      implements RecordReader {
    @Override
    public ParsedRecords read(RecordBytes records) {
      try (ParsedRecords parsed = reader.read(records)) {
        Table kept = calc.apply(parsed.table(), stream, memory);
        return new ParsedRecords(kept);
      }
    }

    @Override
    public void close() {
      try (reader) {
        calc.close();
      }
    }
  }

  @Override
  protected byte[] text(int records) {
    return JsonBidLines.lines(records);
  }
}
