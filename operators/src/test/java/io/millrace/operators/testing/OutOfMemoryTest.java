// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test of operators that must also pass when memory runs out. It runs once without failures,
 * which records the sites where an operator asks for memory; then it runs again for each site, with
 * the first attempts at the site failing (see {@link #attempts}). Its assertions must hold each
 * time, and {@link NothingHeldExtension} checks for leaks.
 *
 * <p>Requests can fail if they are made within {@link io.millrace.memory.retry.GpuRetry}, or by an
 * operator of main code that Flink calls. Other requests of the test itself, and of operators that
 * the test defines, never fail.
 *
 * <p>Keep {@code @Test} for tests in which no operator allocates memory; tests of the parts of
 * operators, which do not retry; tests that count attempts, measure time, or end a job on a
 * condition. Keep parameterized tests, too, beside an {@code @OutOfMemoryTest} of the same job.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(OutOfMemoryInjection.class)
public @interface OutOfMemoryTest {

  /**
   * The maximum number of consecutive attempts that fail at a site; each number from 1 to this one
   * gets a run, or, in a share of the runs, the sites of a test take turns in it ({@link
   * io.millrace.testing.TestShare}). The second attempt follows spilling, the third runs alone on
   * the device, and the fourth has half of the input, if the input can be split.
   */
  int attempts() default 2;

  /**
   * Whether the operators run in the threads of a job, whose calls may differ between runs. Then a
   * run passes even if its site is not reached.
   */
  boolean onCluster() default false;

  /** Whether the operator allocates memory on a GPU only; then a run on the host needs no site. */
  boolean onGpuOnly() default false;
}
