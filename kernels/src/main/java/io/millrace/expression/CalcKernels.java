package io.millrace.expression;

import io.millrace.device.Device;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The generated kernels of one calc, one a device. They are compiled once a process: a calc of an
 * equal program, such as that of a restarted job, gets those that are there.
 */
final class CalcKernels {
  // Of a kernel's arguments.
  private static final int MOST_WORDS = 512;
  private static final Map<Key, CalcKernel> COMPILED = new ConcurrentHashMap<>();

  // The program alone: functions of two jobs may have one name, and hold classes of their jobs.
  private record Key(Device device, CalcProgram program) {}

  private record Variant(Device device, boolean hasMasks) {}

  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final Collection<String> ptxSources;
  private final List<String> hostReasons;
  private final Map<Variant, CalcKernel> variants = new ConcurrentHashMap<>();

  /**
   * @param condition null for all rows
   * @param ptxSources PTX of device functions that the library does not have
   */
  CalcKernels(
      TypedExpression condition, List<TypedExpression> projections, Collection<String> ptxSources) {
    this.condition = condition;
    this.projections = projections;
    this.ptxSources = ptxSources;
    this.hostReasons = findHostReasons();
  }

  private List<String> findHostReasons() {
    Set<TypedExpression> nodes =
        TypedExpression.nodes(
            Stream.concat(Stream.ofNullable(condition), projections.stream()).toList());
    Stream<String> functions =
        nodes.stream()
            .flatMap(node -> node.calledFunction().stream())
            .filter(function -> function.device().isEmpty())
            .map(function -> function.name() + ": " + function.hostReason())
            .distinct();
    return words(nodes) > MOST_WORDS
        ? Stream.concat(functions, Stream.of("too many columns are read and computed at once"))
            .toList()
        : functions.toList();
  }

  /** Those of the kernel's arguments, or a few more. */
  private long words(Set<TypedExpression> nodes) {
    long inputs = nodes.stream().filter(TypedExpression.InputReference.class::isInstance).count();
    long scratches =
        nodes.stream()
            .flatMap(node -> node.calledFunction().stream())
            .filter(BoundFunction::usesScratch)
            .count();
    return CalcProgram.Word.COUNT
        + inputs * CalcProgram.INPUT_WORDS
        + (long) projections.size() * CalcProgram.OUTPUT_WORDS
        + scratches;
  }

  /** Why no device evaluates the calc; empty if one can. */
  List<String> hostReasons() {
    return hostReasons;
  }

  /**
   * The calc's program, for which {@link #hostReasons} is empty.
   *
   * @param hasMasks whether columns of the input may have masks
   */
  CalcProgram program(boolean hasMasks) {
    return CalcProgramWriter.write(condition, projections, hasMasks, PtxLibrary.with(ptxSources));
  }

  /**
   * The kernel for tables on {@code device}; compiled at the first call in the process.
   *
   * @param hasMasks whether columns of the input may have masks
   */
  CalcKernel on(Device device, boolean hasMasks) {
    return variants.computeIfAbsent(
        new Variant(device, hasMasks),
        own ->
            COMPILED.computeIfAbsent(
                new Key(device, program(hasMasks)), key -> new CalcKernel(key.program(), device)));
  }
}
