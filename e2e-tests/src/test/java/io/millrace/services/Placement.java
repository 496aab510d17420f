// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

/**
 * Where servers of a product run.
 *
 * @param inContainer in containers, else as processes
 * @param description product, version, place and reason, for people
 */
record Placement(boolean inContainer, String description) {
  private static final String PROPERTY = "millrace.services";

  /**
   * Chooses.
   *
   * @param wanted {@code container}, {@code process}, or {@code auto}: a container if the engine
   *     answers and has the image
   * @throws IllegalArgumentException if {@code wanted} is none of the three
   * @throws IllegalStateException if a container is wanted and cannot be started
   */
  static Placement choose(Product product, String wanted, DockerEngine engine) {
    String problem = problem(product, engine);
    return switch (wanted) {
      case "process" -> asProcess(product, PROPERTY + " is process");
      case "container" -> {
        if (problem != null) {
          throw new IllegalStateException(
              "%s in a container, as %s says: %s".formatted(product.title(), PROPERTY, problem));
        }
        yield inContainer(product, engine);
      }
      case "auto" -> problem == null ? inContainer(product, engine) : asProcess(product, problem);
      default ->
          throw new IllegalArgumentException(
              "expected %s to be auto, container or process, got '%s'".formatted(PROPERTY, wanted));
    };
  }

  private static String problem(Product product, DockerEngine engine) {
    if (engine.version() == null) {
      return "Docker does not answer: " + engine.problem();
    }
    return engine.images().contains(product.image())
        ? null
        : "docker %s has no image %s, which e2e-tests/containers/setup.sh makes"
            .formatted(engine.version(), product.image());
  }

  private static Placement inContainer(Product product, DockerEngine engine) {
    return new Placement(
        true, "%s in a container (docker %s)".formatted(product.title(), engine.version()));
  }

  private static Placement asProcess(Product product, String reason) {
    return new Placement(false, "%s as a process: %s".formatted(product.title(), reason));
  }

  /** The choice of the system property {@code millrace.services}, with the engine that answers. */
  static Placement ofThisRun(Product product) {
    String wanted = System.getProperty(PROPERTY, "auto");
    boolean needsEngine = !wanted.equals("process");
    return choose(
        product, wanted, needsEngine ? DockerEngine.find() : DockerEngine.silent("not asked"));
  }
}
