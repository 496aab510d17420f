// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.connector.file.sink.compactor.RecordWiseFileCompactor;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** Reads what is between the start and the end of a file, in pieces, at least one. */
final class FileBodyReader implements RecordWiseFileCompactor.Reader<byte[]> {
  private static final int PIECE_BYTES = 1 << 20;

  private final Path file;
  private final byte[] fileEnd;
  private final FSDataInputStream input;
  // Of the body; negative once its end was compared.
  private long bytesLeft;

  /**
   * @param fileStart what each file starts with, such as a header
   * @param fileEnd what each file ends with
   * @throws IOException naming the file if it starts otherwise
   */
  FileBodyReader(Path file, byte[] fileStart, byte[] fileEnd) throws IOException {
    this.file = file;
    this.fileEnd = fileEnd;
    FileSystem fileSystem = file.getFileSystem();
    this.bytesLeft = fileSystem.getFileStatus(file).getLen() - fileStart.length - fileEnd.length;
    this.input = fileSystem.open(file);
    if (bytesLeft < 0 || !Arrays.equals(input.readNBytes(fileStart.length), fileStart)) {
      input.close();
      throw EncodedFileCompactor.cannotJoin(
          file, "it does not start with the header or schema that the job writes");
    }
  }

  @Override
  public byte[] read() throws IOException {
    if (bytesLeft < 0) {
      return null;
    }
    int length = (int) Math.min(bytesLeft, PIECE_BYTES);
    byte[] piece = input.readNBytes(length);
    if (piece.length < length) {
      throw new EOFException(file + " is cut short");
    }
    bytesLeft -= length;
    if (bytesLeft == 0) {
      compareEnd();
      bytesLeft = -1;
    }
    return piece;
  }

  private void compareEnd() throws IOException {
    if (!Arrays.equals(input.readNBytes(fileEnd.length), fileEnd)) {
      throw new IOException(file + " is corrupt: it has another end than the job writes");
    }
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
