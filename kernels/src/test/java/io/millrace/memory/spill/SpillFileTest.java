// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.HostMemory;
import io.millrace.memory.spill.SpillFile.Reader;
import io.millrace.memory.spill.SpillFile.Region;
import io.millrace.memory.spill.SpillFile.Writer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpillFileTest {
  private static final int PAGE = 4_096;
  private static final int CHUNK = TemporaryFile.CHUNK_BYTES;
  private static final long UNLIMITED = Long.MAX_VALUE;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();
  @TempDir Path directory;

  private SpillFile file;
  private long source;
  private long target;

  @BeforeEach
  void open() {
    file = SpillFile.in(List.of(directory), UNLIMITED);
    source = device.hostMemory().allocate(3L * CHUNK, device.hostStream());
    target = device.hostMemory().allocate(3L * CHUNK, device.hostStream());
  }

  @AfterEach
  void close() {
    file.close();
    device.hostMemory().free(source, 3L * CHUNK, device.hostStream());
    device.hostMemory().free(target, 3L * CHUNK, device.hostStream());
  }

  private byte[] fillSource(Random values, int bytes) {
    byte[] content = new byte[bytes];
    values.nextBytes(content);
    HostMemory.copyFromArray(source, content, 0, bytes);
    return content;
  }

  private byte[] readBack(Region region) {
    HostMemory.fill(target, region.bytes(), (byte) 0x55);
    file.read(region, target);
    byte[] content = new byte[(int) region.bytes()];
    HostMemory.copyToArray(content, 0, target, content.length);
    return content;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, PAGE - 1, PAGE, PAGE + 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK})
  void readsWhatWasWritten(int bytes) {
    byte[] content = fillSource(random.random(), bytes);
    Region region = file.write(source, bytes);
    assertThat(region.bytes()).isEqualTo(bytes);
    assertThat(readBack(region)).isEqualTo(content);
    file.free(region);
    assertThat(file.heldBytes()).isZero();
  }

  @Test
  void keepsRegionsOfRandomSizesApart() {
    Random values = random.random();
    List<Region> regions = new ArrayList<>();
    List<byte[]> contents = new ArrayList<>();
    for (int step = 0; step < 2_000; step++) {
      if (!regions.isEmpty() && values.nextInt(5) < 2) {
        int at = values.nextInt(regions.size());
        Region region = regions.remove(at);
        assertThat(readBack(region)).isEqualTo(contents.remove(at));
        file.free(region);
      } else {
        int bytes = values.nextInt(1 << values.nextInt(17));
        contents.add(fillSource(values, bytes));
        regions.add(file.write(source, bytes));
      }
    }
    assertThat(file.heldBytes())
        .isEqualTo(regions.stream().mapToLong(region -> room(region.bytes())).sum());
    for (int i = 0; i < regions.size(); i++) {
      assertThat(readBack(regions.get(i))).isEqualTo(contents.get(i));
      file.free(regions.get(i));
    }
    assertThat(file.heldBytes()).isZero();
    assertThat(file.fileBytes()).isZero();
  }

  private static long room(long bytes) {
    return Math.max(1, (bytes + PAGE - 1) / PAGE) * PAGE;
  }

  @Test
  void aRegionIsWrittenAndReadPieceByPiece() {
    byte[] content = fillSource(random.random(), 10_000);
    Region region;
    try (Writer writer = file.writer(10_000)) {
      writer.append(source, 1);
      writer.append(source + 1, 5_000);
      assertThatThrownBy(writer::finish)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the region lacks 4999 bytes");
      assertThatThrownBy(() -> writer.append(source, 5_000))
          .isInstanceOf(IllegalArgumentException.class);
      writer.append(source + 5_001, 4_999);
      region = writer.finish();
      assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    }
    assertThat(region).isEqualTo(new Region(0, 10_000, file.write(source, 10_000).checksum()));
    Reader reader = file.reader(region);
    reader.read(target, 7_000);
    reader.read(target + 7_000, 3_000);
    byte[] read = new byte[10_000];
    HostMemory.copyToArray(read, 0, target, read.length);
    assertThat(read).isEqualTo(content);
    assertThatThrownBy(() -> reader.read(target, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aWriterThatIsNotFinishedGivesItsRoomBack() {
    try (Writer writer = file.writer(PAGE)) {
      writer.append(source, 10);
      assertThat(file.heldBytes()).isEqualTo(PAGE);
    }
    assertThat(file.heldBytes()).isZero();
    assertThat(file.fileBytes()).isZero();
  }

  @Test
  void freedRoomIsUsedAgainAndTheEndIsCutOff() throws IOException {
    Region first = file.write(source, 3 * PAGE);
    Region second = file.write(source, PAGE);
    file.free(first);
    assertThat(file.fileBytes()).isEqualTo(4 * PAGE);
    Region third = file.write(source, 2 * PAGE);
    assertThat(third.offset()).isZero();
    assertThat(file.fileBytes()).isEqualTo(4 * PAGE);
    assertThat(file.heldBytes()).isEqualTo(3 * PAGE);
    file.free(second);
    assertThat(file.fileBytes()).isEqualTo(2 * PAGE);
    assertThat(Files.size(descriptor())).isEqualTo(2 * PAGE);
    file.free(third);
    assertThat(Files.size(descriptor())).isZero();
  }

  @Test
  void theFileHasNoNameWhileItIsOpen() throws IOException {
    assertThat(directory).isEmptyDirectory();
    file.write(source, PAGE);
    assertThat(directory).isEmptyDirectory();
    assertThat(Files.size(descriptor())).isEqualTo(PAGE);
    file.close();
    assertThat(descriptors()).isEmpty();
    assertThat(file.heldBytes()).isZero();
    assertThat(file.fileBytes()).isZero();
  }

  @Test
  void nothingIsOpenedBeforeTheFirstWrite() throws IOException {
    assertThat(descriptors()).isEmpty();
    assertThat(file.fileBytes()).isZero();
  }

  @Test
  void severalFilesLiveInOneDirectory() {
    byte[] content = fillSource(random.random(), 100);
    Region region = file.write(source, 100);
    try (SpillFile other = SpillFile.in(List.of(directory), UNLIMITED)) {
      HostMemory.fill(source, 100, (byte) 1);
      assertThat(other.write(source, 100).offset()).isEqualTo(region.offset());
      assertThat(readBack(region)).isEqualTo(content);
    }
    assertThat(readBack(region)).isEqualTo(content);
  }

  @Test
  void aFlippedBitIsFound() throws IOException {
    file.write(source, PAGE);
    Region region = file.write(source, 3 * PAGE);
    long position = region.offset() + 2 * PAGE + 17;
    try (FileChannel channel = FileChannel.open(descriptor(), StandardOpenOption.WRITE)) {
      byte flipped = (byte) (HostMemory.getByte(source + 2 * PAGE + 17) ^ 4);
      channel.write(ByteBuffer.wrap(new byte[] {flipped}), position);
    }
    assertThatThrownBy(() -> file.read(region, target))
        .isInstanceOf(SpillException.class)
        .hasMessageContaining("12288 spilled bytes at file offset 4096 in " + directory)
        .hasMessageContaining(String.format("must be %08x", region.checksum()));
  }

  @Test
  void aMissingEndIsFound() throws IOException {
    Region region = file.write(source, 3 * PAGE);
    try (FileChannel channel = FileChannel.open(descriptor(), StandardOpenOption.WRITE)) {
      channel.truncate(PAGE + 1);
    }
    assertThatThrownBy(() -> file.read(region, target))
        .isInstanceOf(SpillException.class)
        .hasMessageContaining("cannot read 12288 spilled bytes at file offset 0 in " + directory)
        .hasMessageContaining("the file ends before offset 4097");
  }

  @Test
  void theLimitIsKeptAndNothingIsLost() {
    try (SpillFile limited = SpillFile.in(List.of(directory), 3 * PAGE)) {
      HostMemory.fill(source, 3 * PAGE, (byte) 7);
      Region region = limited.write(source, 2 * PAGE);
      assertThatThrownBy(() -> limited.write(source, PAGE + 1))
          .isInstanceOf(SpillException.class)
          .hasMessage(
              "cannot spill 4097 bytes to disk: 8192 bytes are held of a file of 8192, which may"
                  + " have 12288; raise millrace.spill.disk-limit");
      assertThat(limited.heldBytes()).isEqualTo(2 * PAGE);
      limited.write(source, PAGE);
      limited.read(region, target);
      limited.free(region);
      limited.write(source, PAGE + 1);
    }
  }

  @Test
  void aLimitOfZeroTakesNothing() {
    try (SpillFile limited = SpillFile.in(List.of(directory), 0)) {
      assertThatThrownBy(() -> limited.write(source, 1)).isInstanceOf(SpillException.class);
    }
    assertThatThrownBy(() -> SpillFile.in(List.of(directory), -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aMissingDirectoryIsMade() {
    Path missing = directory.resolve("a/b");
    try (SpillFile made = SpillFile.in(List.of(missing), UNLIMITED)) {
      assertThat(missing).isEmptyDirectory();
      made.write(source, 1);
    }
  }

  // Permissions do not bind the superuser; that a path is below a file does.
  @Test
  void unwritableDirectoriesAreNamedAtOnce() throws IOException {
    Path below = Files.createFile(directory.resolve("plain")).resolve("spill");
    assertThatThrownBy(() -> SpillFile.in(List.of(below), UNLIMITED))
        .isInstanceOf(SpillException.class)
        .hasMessageContaining(below.toString())
        .hasMessageContaining("io.tmp.dirs");
    assertThatThrownBy(() -> SpillFile.in(List.of(), UNLIMITED))
        .isInstanceOf(SpillException.class)
        .hasMessageContaining("io.tmp.dirs");
    try (SpillFile other = SpillFile.in(List.of(below, directory), UNLIMITED)) {
      other.write(source, 1);
    }
  }

  @Test
  void aDirectoryThatIsGoneByTheFirstWriteIsNamed() throws IOException {
    Path gone = directory.resolve("gone");
    try (SpillFile late = SpillFile.in(List.of(gone), UNLIMITED)) {
      Files.delete(gone);
      assertThatThrownBy(() -> late.write(source, 1))
          .isInstanceOf(SpillException.class)
          .hasMessageContaining(gone.toString())
          .hasMessageContaining("io.tmp.dirs");
      assertThat(late.heldBytes()).isZero();
    }
  }

  @Test
  void aFreedRegionIsRefused() {
    Region region = file.write(source, 1);
    file.free(region);
    assertThatThrownBy(() -> file.free(region)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> file.read(region, target)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aClosedFileIsRefused() {
    Region region = file.write(source, 1);
    try (Writer writer = file.writer(1)) {
      Reader reader = file.reader(region);
      file.close();
      file.close();
      assertThatThrownBy(() -> writer.append(source, 1)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> reader.read(target, 1)).isInstanceOf(IllegalStateException.class);
    }
    assertThatThrownBy(() -> file.write(source, 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> file.read(region, target)).isInstanceOf(IllegalStateException.class);
    file.free(region);
    assertThat(file.heldBytes()).isZero();
  }

  private Path descriptor() throws IOException {
    List<Path> found = descriptors();
    assertThat(found).hasSize(1);
    return found.get(0);
  }

  // The file has no name, but the process has its descriptor.
  private List<Path> descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.filter(this::isSpillFile).toList();
    }
  }

  private boolean isSpillFile(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(directory);
    } catch (NoSuchFileException closedMeanwhile) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
