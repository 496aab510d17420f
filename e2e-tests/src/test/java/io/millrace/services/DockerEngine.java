// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import com.github.dockerjava.api.DockerClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.lang3.exception.ExceptionUtils;
import org.testcontainers.DockerClientFactory;

/**
 * The Docker engine that Testcontainers uses.
 *
 * @param version null if no engine answers
 * @param problem why no engine answers, in words; null if one does
 * @param images names of the images that the engine has, with their tags
 */
record DockerEngine(String version, String problem, Set<String> images) {
  private static final String DEFAULT_SOCKET = "/var/run/docker.sock";
  private static final String UNIX = "unix://";

  /** Asks the engine of the variable {@code DOCKER_HOST}, or that of this machine. */
  static DockerEngine find() {
    String host = System.getenv().getOrDefault("DOCKER_HOST", UNIX + DEFAULT_SOCKET);
    if (host.startsWith(UNIX) && !Files.exists(Path.of(host.substring(UNIX.length())))) {
      return silent("there is no socket " + host.substring(UNIX.length()));
    }
    try {
      DockerClient client = DockerClientFactory.instance().client();
      Set<String> images =
          client.listImagesCmd().exec().stream()
              .flatMap(image -> tags(image.getRepoTags()))
              .collect(Collectors.toSet());
      return new DockerEngine(client.versionCmd().exec().getVersion(), null, images);
    } catch (RuntimeException e) {
      // It says that it has tried what it knows, and throws nothing narrower.
      return silent(host + ": " + ExceptionUtils.getRootCause(e).getMessage());
    }
  }

  private static Stream<String> tags(String[] tags) {
    return tags == null ? Stream.empty() : Arrays.stream(tags);
  }

  /** An engine that does not answer. */
  static DockerEngine silent(String problem) {
    return new DockerEngine(null, problem, Set.of());
  }
}
