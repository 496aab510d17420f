// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;

/**
 * Draws what {@link AdaptiveBatchingTest} wrote: rate and rows of a batch over time on a
 * logarithmic axis, and below the age of each batch's oldest row. Arguments: the CSV file, the PNG
 * file.
 */
public final class AdaptiveBatchingPlot {
  private static final int WIDTH = 900;
  private static final int PANEL_HEIGHT = 240;
  private static final int MARGIN = 70;
  private static final double DECADES = 6;
  private static final double MAX_LATENCY_MILLIS = 25;
  private static final double TARGET_MILLIS = 20;
  private static final Color RATE = new Color(0x88, 0x88, 0x88);
  private static final Color ROWS = new Color(0x1f, 0x77, 0xb4);
  private static final Color LATENCY = new Color(0xd6, 0x27, 0x28);

  private record Point(double millis, double rate, double rows, double latency) {
    static Point parse(String line) {
      String[] cells = line.split(",", -1);
      return new Point(
          Double.parseDouble(cells[0]),
          Double.parseDouble(cells[1]),
          Double.parseDouble(cells[2]),
          Double.parseDouble(cells[3]));
    }
  }

  private final List<Point> points;
  private final double lastMillis;
  private final Graphics2D graphics;

  private AdaptiveBatchingPlot(List<Point> points, Graphics2D graphics) {
    this.points = points;
    this.lastMillis = points.get(points.size() - 1).millis();
    this.graphics = graphics;
  }

  /** Draws the file named first into the file named second. */
  public static void main(String[] arguments) throws IOException {
    List<Point> points =
        Files.readAllLines(Path.of(arguments[0])).stream().skip(1).map(Point::parse).toList();
    BufferedImage image =
        new BufferedImage(WIDTH, 2 * PANEL_HEIGHT + 3 * MARGIN, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    new AdaptiveBatchingPlot(points, graphics).draw(image.getHeight());
    graphics.dispose();
    ImageIO.write(image, "png", Path.of(arguments[1]).toFile());
  }

  private void draw(int height) {
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, 0, WIDTH, height);
    graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
    int top = MARGIN;
    axes(top, "rows/s arriving (grey) and rows of a batch (blue), logarithmic");
    for (int decade = 0; decade <= DECADES; decade += 2) {
      label(top, decade / DECADES, "10^" + decade);
    }
    line(top, RATE, point -> Math.log10(point.rate()) / DECADES);
    line(top, ROWS, point -> Math.log10(point.rows()) / DECADES);
    int bottom = top + PANEL_HEIGHT + MARGIN;
    axes(bottom, "age of the oldest row when its batch is sent, in ms (target 20)");
    for (int millis = 0; millis <= MAX_LATENCY_MILLIS; millis += 5) {
      label(bottom, millis / MAX_LATENCY_MILLIS, Integer.toString(millis));
    }
    line(bottom, RATE, point -> TARGET_MILLIS / MAX_LATENCY_MILLIS);
    line(bottom, LATENCY, point -> point.latency() / MAX_LATENCY_MILLIS);
    graphics.setColor(Color.BLACK);
    graphics.drawString("simulated time in ms", WIDTH / 2 - 60, height - MARGIN / 3);
  }

  private void axes(int top, String title) {
    graphics.setColor(Color.BLACK);
    graphics.drawString(title, MARGIN, top - 12);
    graphics.drawRect(MARGIN, top, WIDTH - 2 * MARGIN, PANEL_HEIGHT);
    for (int millis = 0; millis <= lastMillis; millis += 250) {
      graphics.drawString(Integer.toString(millis), x(millis) - 12, top + PANEL_HEIGHT + 18);
    }
  }

  private void label(int top, double fraction, String text) {
    graphics.setColor(Color.BLACK);
    graphics.drawString(text, MARGIN - 45, y(top, fraction) + 5);
  }

  private void line(int top, Color color, ToDoubleFunction<Point> fraction) {
    graphics.setColor(color);
    graphics.setStroke(new BasicStroke(1.5f));
    for (int i = 1; i < points.size(); i++) {
      Point from = points.get(i - 1);
      Point to = points.get(i);
      graphics.drawLine(
          x(from.millis()),
          y(top, fraction.applyAsDouble(from)),
          x(to.millis()),
          y(top, fraction.applyAsDouble(to)));
    }
    graphics.setStroke(new BasicStroke(1));
  }

  private int x(double millis) {
    return (int) (MARGIN + millis / lastMillis * (WIDTH - 2 * MARGIN));
  }

  private static int y(int top, double fraction) {
    return (int) (top + PANEL_HEIGHT * (1 - fraction));
  }
}
