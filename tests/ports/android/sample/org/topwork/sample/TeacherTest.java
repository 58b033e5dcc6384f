package org.topwork.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.topwork.Model;
import org.topwork.TestFiles;

/** What the sample does, on digits in place of a camera's frames. */
public class TeacherTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static final class Frames {
    private final TestFiles.Digits digits;

    Frames(String part) throws Exception {
      digits = TestFiles.Digits.read(part, 10);
    }

    /** Picture {@code nth} of the digit, as a camera gives it. */
    int[] frame(int digit, int nth) {
      for (int i = 0; i < digits.labels.length; i++) {
        if (digits.labels[i] == digit && nth-- == 0) {
          int[] argb = new int[64];
          for (int p = 0; p < 64; p++) {
            int gray = Math.round(255 * digits.pixels.getFloat(256 * i + 4 * p));
            argb[p] = 0xff000000 | gray << 16 | gray << 8 | gray;
          }
          return argb;
        }
      }
      throw new IllegalArgumentException("no such picture");
    }
  }

  static Teacher teacher(Model base, File folder) {
    float[] mean = {0};
    float[] std = {255};
    return new Teacher(base, Collections.emptyList(), folder, mean, std);
  }

  private static void teach(Teacher teacher, String name, int digit, Frames frames) {
    teacher.begin(name);
    for (int tap = 0; tap < Teacher.TAPS; tap++) {
      assertEquals(name, teacher.current());
      assertEquals(Teacher.TAPS - tap, teacher.tapsLeft());
      boolean isLast = tap == Teacher.TAPS - 1;
      assertEquals(isLast, teacher.tap(frames.frame(digit, tap), 8, 8, 0));
    }
    assertNull(teacher.current());
  }

  private static int right(Teacher teacher, String name, int digit, Frames frames) {
    int right = 0;
    for (int i = 0; i < 10; i++) {
      right += teacher.classify(frames.frame(digit, i), 8, 8, 0).name().equals(name) ? 1 : 0;
    }
    return right;
  }

  @Test
  public void learnsThingsFromFiveTapsEachAndRemembersThem() throws Exception {
    Frames train = new Frames("train");
    Frames test = new Frames("test");
    try (Model base = Model.open(TestFiles.digits())) {
      try (Teacher teacher = teacher(base, folder.getRoot())) {
        assertTrue(right(teacher, "class 3", 3, test) >= 8);
        assertThrows(IllegalStateException.class, () -> teacher.tap(new int[64], 8, 8, 0));
        teach(teacher, "three", 3, train);
        assertTrue(right(teacher, "class 3", 3, test) >= 8);
        teach(teacher, "seven", 7, train);
        assertTrue(right(teacher, "three", 3, test) >= 9);
        assertTrue(right(teacher, "seven", 7, test) >= 9);
        teach(teacher, "nought", 0, train);
        assertThrows(IllegalArgumentException.class, () -> teacher.begin("three"));
      }
      try (Teacher again = teacher(base, folder.getRoot())) {
        assertEquals(Arrays.asList("three", "seven", "nought"), again.things());
        assertTrue(right(again, "three", 3, test) >= 9);
        assertTrue(right(again, "seven", 7, test) >= 9);
        assertTrue(right(again, "nought", 0, test) >= 9);
        teach(again, "one", 1, train);
        assertTrue(right(again, "one", 1, test) >= 7);
      }
    }
  }

  /** A process that teaches until it is killed; it prints a line when a tap has returned. */
  public static final class Pupil {
    private Pupil() {}

    /** Arguments: the folder. */
    public static void main(String[] arguments) throws Exception {
      Frames frames = new Frames("train");
      try (Model base = Model.open(TestFiles.digits());
          Teacher teacher = teacher(base, new File(arguments[0]))) {
        for (int thing = teacher.things().size(); ; thing++) {
          if (teacher.current() == null) {
            teacher.begin("thing " + thing);
          }
          while (teacher.current() != null) {
            int nth = Teacher.TAPS - teacher.tapsLeft();
            teacher.tap(frames.frame(thing % 10, nth), 8, 8, 0);
            System.out.println("tap");
          }
        }
      }
    }
  }

  private static Process start(File state, File output) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    for (String name : Arrays.asList("java.library.path", "topwork.root")) {
      command.add("-D" + name + "=" + System.getProperty(name));
    }
    String classes = System.getProperty("java.class.path");
    command.addAll(Arrays.asList("-cp", classes, Pupil.class.getName(), state.getPath()));
    return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
  }

  /** Kills a process once it has tapped so often, and returns how many taps had returned. */
  private static int killAfter(int taps, File state, File output) throws Exception {
    Process process = start(state, output);
    while (output.length() < 4L * taps && process.isAlive()) {
      Thread.sleep(1);
    }
    process.destroyForcibly().waitFor();
    List<String> lines = Files.readAllLines(output.toPath());
    assertTrue(String.join("\n", lines), lines.size() >= taps);
    return (int) lines.stream().filter("tap"::equals).count();
  }

  @Test
  public void aKilledProcessLosesNoTap() throws Exception {
    File state = folder.newFolder("state");
    Frames test = new Frames("test");
    int taps = 0;
    for (int round = 0; round < 5; round++) {
      taps += killAfter(3 + 3 * round, state, new File(folder.getRoot(), "output " + round));
      try (Model base = Model.open(TestFiles.digits());
          Teacher teacher = teacher(base, state)) {
        int begun = teacher.current() == null ? 0 : Teacher.TAPS - teacher.tapsLeft();
        int kept = teacher.things().size() * Teacher.TAPS + begun;
        assertTrue(kept + " of " + taps, kept == taps || kept == taps + 1);
        taps = kept;
        String seen = teacher.classify(test.frame(0, 0), 8, 8, 0).name();
        boolean isPersonal = teacher.things().size() >= 2;
        assertTrue(seen, isPersonal ? teacher.things().contains(seen) : seen.equals("class 0"));
      }
    }
  }
}
