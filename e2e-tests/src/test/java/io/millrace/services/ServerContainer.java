// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import io.millrace.process.Await;
import java.time.Duration;
import java.util.List;
import org.testcontainers.containers.GenericContainer;

/** A server in a container of Testcontainers. Its data lie in the container. */
final class ServerContainer implements Server {
  private static final Duration END_LIMIT = Duration.ofMinutes(1);
  private static final int TAIL_LINES = 40;

  private final GenericContainer<?> container;

  /**
   * Makes a server that is not started.
   *
   * @param container not started; in the host's network, with the ports that its clients use
   */
  ServerContainer(GenericContainer<?> container) {
    this.container = container;
  }

  @Override
  public void start() {
    if (container.getContainerId() == null) {
      container.start();
    } else {
      docker().startContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public boolean isRunning() {
    return container.getContainerId() != null && Boolean.TRUE.equals(state().getRunning());
  }

  @Override
  public void pause() {
    docker().pauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void resume() {
    docker().unpauseContainerCmd(container.getContainerId()).exec();
  }

  // Docker does not kill what is paused.
  private void resumeIfPaused() {
    if (Boolean.TRUE.equals(state().getPaused())) {
      resume();
    }
  }

  @Override
  public void kill() throws Exception {
    resumeIfPaused();
    docker().killContainerCmd(container.getContainerId()).exec();
    Await.until(
        "container " + container.getDockerImageName() + " ends",
        END_LIMIT,
        () -> !isRunning(),
        this::diagnosis);
  }

  @Override
  public String diagnosis() {
    if (container.getContainerId() == null) {
      return container.getDockerImageName() + " was not started";
    }
    List<String> lines = container.getLogs().lines().toList();
    return "--- %s (%s), tail of its log:%n%s%n"
        .formatted(
            container.getDockerImageName(),
            state().getStatus(),
            String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size())));
  }

  @Override
  public void close() {
    if (container.getContainerId() != null) {
      resumeIfPaused();
      container.stop();
    }
  }

  private ContainerState state() {
    return docker().inspectContainerCmd(container.getContainerId()).exec().getState();
  }

  private DockerClient docker() {
    return container.getDockerClient();
  }
}
