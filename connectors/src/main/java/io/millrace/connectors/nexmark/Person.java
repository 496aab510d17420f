// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import org.apache.flink.annotation.Internal;

/** A person who registers, to sell or to bid. {@code dateTime} is in milliseconds. */
@Internal
public record Person(
    long id,
    String name,
    String emailAddress,
    String creditCard,
    String city,
    String state,
    long dateTime,
    String extra) {}
