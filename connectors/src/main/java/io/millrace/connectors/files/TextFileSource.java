package io.millrace.connectors.files;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.Path;

/**
 * Which text files to read and how. {@link #create} checks that there are files, so that a job with
 * a wrong path fails before it starts.
 *
 * @param paths files, directories (read with all below them) or globs; see {@link
 *     InputFiles#resolve}
 * @param framing what ends a line
 * @param maximumLineBytes longer lines are {@linkplain TextLine#truncated truncated}
 */
public record TextFileSource(List<String> paths, LineFraming framing, int maximumLineBytes) {
  public TextFileSource {
    paths = List.copyOf(paths);
    Objects.requireNonNull(framing, "framing is null");
  }

  /** Lines that end at every line feed. */
  public static TextFileSource of(List<String> paths) {
    return new TextFileSource(
        paths, LineFraming.LINE_FEED, TextLineFormat.DEFAULT_MAXIMUM_LINE_BYTES);
  }

  public TextFileSource withFraming(LineFraming other) {
    return new TextFileSource(paths, other, maximumLineBytes);
  }

  /**
   * Finds the files.
   *
   * @throws java.io.FileNotFoundException naming every path that there is nothing for
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
    return builder().build();
  }

  /**
   * An unbounded source that also looks for new files in the directories, every {@code interval}.
   *
   * @throws java.io.FileNotFoundException as {@link #check}
   */
  public FileSource<TextLine> createMonitoring(Duration interval) throws IOException {
    return builder().monitorContinuously(interval).build();
  }

  private FileSource.FileSourceBuilder<TextLine> builder() throws IOException {
    return FileSource.forBulkFileFormat(
        new TextLineFormat(framing, maximumLineBytes), check().toArray(Path[]::new));
  }
}
