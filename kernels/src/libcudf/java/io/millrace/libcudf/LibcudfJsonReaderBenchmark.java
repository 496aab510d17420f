// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.HostMemoryBuffer;
import ai.rapids.cudf.JSONOptions;
import ai.rapids.cudf.Table;
import io.millrace.format.json.JsonBidLines;
import org.openjdk.jmh.annotations.Benchmark;

/** What libcudf needs to read the lines of {@link io.millrace.format.json.JsonReaderBenchmark}. */
public class LibcudfJsonReaderBenchmark extends LibcudfReaderBenchmark {
  private static final JSONOptions LINES = JSONOptions.builder().withLines(true).build();

  @Override
  protected byte[] text(int records) {
    return JsonBidLines.lines(records);
  }

  @Override
  protected Table read(HostMemoryBuffer text) {
    return Table.readJSON(SCHEMA, LINES, text, 0, text.getLength());
  }

  /** Reads, waits, and frees the table. */
  @Benchmark
  public long readJson() {
    return readAndWait();
  }
}
