// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import io.millrace.device.HostMemory;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Copies host memory to and from checkpoints, in pieces of up to 4 MiB. A piece begins with the
 * number of bytes of a Zstandard frame, which follows; or with 0 if the bytes follow as they are.
 * Used by one thread.
 */
final class CheckpointBytes {
  private static final int PIECE_BYTES = 4 << 20;
  private static final int LEVEL = 1;

  private final boolean areCompressed;
  private byte[] piece = new byte[0];
  private byte[] frame = new byte[0];

  /**
   * @param areCompressed whether to write frames where they are smaller than the bytes
   */
  CheckpointBytes(boolean areCompressed) {
    this.areCompressed = areCompressed;
  }

  void write(long address, long size, DataOutputStream target) throws IOException {
    for (long done = 0; done < size; done += PIECE_BYTES) {
      int bytes = copyPiece(address + done, size - done);
      int frameBytes = areCompressed ? compress(bytes) : 0;
      target.writeInt(frameBytes);
      if (frameBytes > 0) {
        target.write(frame, 0, frameBytes);
      } else {
        target.write(piece, 0, bytes);
      }
    }
  }

  private int copyPiece(long address, long bytesLeft) {
    int bytes = (int) Math.min(PIECE_BYTES, bytesLeft);
    piece = ofSize(piece, bytes);
    HostMemory.copyToArray(piece, 0, address, bytes);
    return bytes;
  }

  /** The bytes of the piece's frame; 0 if it is not smaller than the piece. */
  private int compress(int bytes) {
    frame = ofSize(frame, (int) Zstd.compressBound(bytes));
    int size = (int) Zstd.compressByteArray(frame, 0, frame.length, piece, 0, bytes, LEVEL);
    return size < bytes ? size : 0;
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws IOException if the source ends too early, or a piece is no frame of its bytes
   */
  void read(DataInputStream source, long address, long size) throws IOException {
    for (long done = 0; done < size; done += PIECE_BYTES) {
      int bytes = (int) Math.min(PIECE_BYTES, size - done);
      int frameBytes = source.readInt();
      if (frameBytes == 0) {
        readPiece(source, address + done, bytes);
      } else {
        readFrame(source, frameBytes, address + done, bytes);
      }
    }
  }

  /** Reads bytes without the number of a frame's bytes before them. */
  void readPlain(DataInputStream source, long address, long size) throws IOException {
    for (long done = 0; done < size; done += PIECE_BYTES) {
      readPiece(source, address + done, (int) Math.min(PIECE_BYTES, size - done));
    }
  }

  private void readPiece(DataInputStream source, long address, int bytes) throws IOException {
    piece = ofSize(piece, bytes);
    source.readFully(piece, 0, bytes);
    HostMemory.copyFromArray(address, piece, 0, bytes);
  }

  private void readFrame(DataInputStream source, int frameBytes, long address, int bytes)
      throws IOException {
    if (frameBytes < 0 || frameBytes >= bytes) {
      throw new IOException(
          "keyed state is damaged: expected fewer than "
              + bytes
              + " compressed bytes, got "
              + frameBytes);
    }
    frame = ofSize(frame, frameBytes);
    source.readFully(frame, 0, frameBytes);
    piece = ofSize(piece, bytes);
    long size;
    try {
      size = Zstd.decompressByteArray(piece, 0, bytes, frame, 0, frameBytes);
    } catch (ZstdException e) {
      throw new IOException("keyed state is damaged: expected a Zstandard frame", e);
    }
    if (size != bytes) {
      throw new IOException(
          "keyed state is damaged: expected " + bytes + " bytes in a Zstandard frame, got " + size);
    }
    HostMemory.copyFromArray(address, piece, 0, bytes);
  }

  private static byte[] ofSize(byte[] bytes, int size) {
    return bytes.length < size ? new byte[size] : bytes;
  }
}
