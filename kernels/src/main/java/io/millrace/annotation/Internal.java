// SPDX-License-Identifier: Apache-2.0
package io.millrace.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A type that is public only for neighbouring packages of its module, and may change at any time.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
@PublicEvolving
public @interface Internal {}
