// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.Internal;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.core.fs.Path;

/**
 * The text files to read, and how. {@link #create} checks that there are files, so that a job with
 * a wrong path fails before it starts.
 *
 * @param paths files, directories (read with all below them) or globs; see {@link
 *     InputFiles#resolve}
 * @param lines how they are cut into lines
 */
@PublicEvolving
public record TextFileSource(List<String> paths, TextLineOptions lines) {
  public TextFileSource {
    paths = List.copyOf(paths);
    Objects.requireNonNull(lines, "lines are null");
  }

  /** Lines that end at every line feed. */
  public static TextFileSource of(List<String> paths) {
    return new TextFileSource(paths, TextLineOptions.DEFAULT);
  }

  public TextFileSource withLines(TextLineOptions other) {
    return new TextFileSource(paths, other);
  }

  /**
   * Finds the files.
   *
   * @throws java.io.FileNotFoundException naming every path without files
   */
  public List<Path> check() throws IOException {
    return InputFiles.resolve(paths);
  }

  /**
   * A bounded source of the files that are there when the job starts.
   *
   * @throws java.io.FileNotFoundException as {@link #check}
   */
  public FileSource<TextLine> create() throws IOException {
    return create(new TextLineFormat(lines));
  }

  /** As {@link #create()}, in another form than single lines. */
  public <T> FileSource<T> create(BulkFormat<T, FileSourceSplit> format) throws IOException {
    return create(check(), lines, format);
  }

  /**
   * As the other method, of files that were found.
   *
   * @param files files and directories, at least one
   */
  @Internal
  public static <T> FileSource<T> create(
      List<Path> files, TextLineOptions lines, BulkFormat<T, FileSourceSplit> format) {
    FileSource.FileSourceBuilder<T> builder =
        FileSource.forBulkFileFormat(format, files.toArray(Path[]::new));
    if (lines.framing() == LineFraming.LINE_FEED) {
      builder.setFileEnumerator(ByteRangeFileEnumerator::new);
    }
    return builder.build();
  }
}
