// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.CSVOptions;
import ai.rapids.cudf.HostMemoryBuffer;
import ai.rapids.cudf.Table;
import io.millrace.format.csv.CsvBidLines;
import org.openjdk.jmh.annotations.Benchmark;

/** What libcudf needs to read the lines of {@link io.millrace.format.csv.CsvReaderBenchmark}. */
public class LibcudfCsvReaderBenchmark extends LibcudfReaderBenchmark {
  private static final CSVOptions LINES = CSVOptions.builder().hasHeader(false).build();

  @Override
  protected byte[] text(int records) {
    return CsvBidLines.lines(records);
  }

  @Override
  protected Table read(HostMemoryBuffer text) {
    return Table.readCSV(SCHEMA, LINES, text, 0, text.getLength());
  }

  /** Reads, waits, and frees the table. */
  @Benchmark
  public long readCsv() {
    return readAndWait();
  }
}
