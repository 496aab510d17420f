// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import java.time.ZoneId;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentHashMap;

/** A time zone and its offset tables, which are built on first use. */
final class SessionZone {
  private static final Map<ZoneId, SessionZone> ZONES = new ConcurrentHashMap<>();

  private final TimeZone timeZone;
  private final ZoneId zoneId;
  private ZoneOffsetTable instants;
  private ZoneOffsetTable localTimes;
  private ZoneOffsetTable legacyInstants;
  private ZoneOffsetTable legacyLocalTimes;

  private SessionZone(TimeZone timeZone) {
    this.timeZone = timeZone;
    this.zoneId = timeZone.toZoneId();
  }

  /**
   * Resolves a session time zone as Flink does, through {@link TimeZone}, which does not know every
   * zone.
   */
  static SessionZone of(ZoneId zone) {
    return ZONES.computeIfAbsent(zone, key -> new SessionZone(TimeZone.getTimeZone(key)));
  }

  /**
   * Returns the zone with an ID, or UTC if the ID is unknown, like {@link
   * TimeZone#getTimeZone(String)}.
   */
  static SessionZone of(String id) {
    return of(TimeZone.getTimeZone(id).toZoneId());
  }

  TimeZone timeZone() {
    return (TimeZone) timeZone.clone();
  }

  ZoneId zoneId() {
    return zoneId;
  }

  synchronized ZoneOffsetTable instants() {
    if (instants == null) {
      instants = ZoneOffsetTable.ofInstants(zoneId);
    }
    return instants;
  }

  synchronized ZoneOffsetTable localTimes() {
    if (localTimes == null) {
      localTimes = ZoneOffsetTable.ofLocalTimes(zoneId);
    }
    return localTimes;
  }

  /** Offsets by instant, from {@link TimeZone}. */
  synchronized ZoneOffsetTable legacyInstants() {
    if (legacyInstants == null) {
      legacyInstants = ZoneOffsetTable.ofInstants(timeZone);
    }
    return legacyInstants;
  }

  /** Offsets by local time, from {@link java.util.GregorianCalendar}. */
  synchronized ZoneOffsetTable legacyLocalTimes() {
    if (legacyLocalTimes == null) {
      legacyLocalTimes = ZoneOffsetTable.ofLocalTimes(timeZone);
    }
    return legacyLocalTimes;
  }

  @Override
  public String toString() {
    return zoneId.toString();
  }
}
