// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.io.FileUtils;
import org.tukaani.xz.XZInputStream;

/** The programs of PostgreSQL, which Maven has as an archive in a jar. */
final class PostgresPrograms {
  private static final String ARCHIVE = "postgres-linux-x86_64.txz";
  private static final int EXECUTABLE = 0100;

  private PostgresPrograms() {}

  /** The folder of the programs; unpacks them if that was not done, also by another JVM. */
  static Path unpacked() throws IOException {
    Path jar = jar();
    String name = jar.getFileName().toString().replace(".jar", "");
    Path folder = Files.createDirectories(Product.folder()).resolve(name);
    if (!Files.exists(folder)) {
      Path unfinished = Files.createTempDirectory(folder.getParent(), "unpacking-");
      unpack(jar, unfinished);
      moveUnlessThere(unfinished, folder);
    }
    return folder;
  }

  private static Path jar() throws IOException {
    try (Stream<Path> files = Files.list(Product.POSTGRES.libraries())) {
      List<Path> jars = files.filter(file -> file.toString().endsWith(".jar")).toList();
      if (jars.size() != 1) {
        throw new IOException(
            "expected one jar in %s, got %s: run mvn clean verify"
                .formatted(Product.POSTGRES.libraries(), jars));
      }
      return jars.get(0);
    }
  }

  private static void unpack(Path jar, Path folder) throws IOException {
    try (JarFile file = new JarFile(jar.toFile());
        InputStream archive = file.getInputStream(file.getEntry(ARCHIVE));
        TarArchiveInputStream tar = new TarArchiveInputStream(new XZInputStream(archive))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        unpack(entry, tar, folder.resolve(entry.getName()));
      }
    }
  }

  private static void unpack(TarArchiveEntry entry, InputStream content, Path target)
      throws IOException {
    if (entry.isDirectory()) {
      Files.createDirectories(target);
      return;
    }
    Files.createDirectories(target.getParent());
    if (entry.isSymbolicLink()) {
      Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
    } else {
      Files.copy(content, target);
      if ((entry.getMode() & EXECUTABLE) != 0 && !target.toFile().setExecutable(true)) {
        throw new IOException(target + " cannot be made executable");
      }
    }
  }

  private static void moveUnlessThere(Path source, Path target) throws IOException {
    try {
      Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      FileUtils.deleteDirectory(source.toFile());
      if (!Files.isDirectory(target)) {
        throw e;
      }
    }
  }
}
