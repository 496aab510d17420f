package io.millrace.connectors.nexmark;

/** A person who registers, to sell or to bid. {@code dateTime} is in milliseconds. */
public record Person(
    long id,
    String name,
    String emailAddress,
    String creditCard,
    String city,
    String state,
    long dateTime,
    String extra) {}
