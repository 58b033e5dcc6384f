package org.topwork;

import static org.junit.Assert.assertEquals;

import java.io.File;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Classes and a native library of different versions. */
public class OtherVersionTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  /** Asks for devices twice, and tells what came of it. */
  public static final class Program {
    private Program() {}

    /** Needs no arguments. */
    public static void main(String[] arguments) {
      for (int i = 0; i < 2; i++) {
        try {
          Device.all();
          System.out.println("devices");
        } catch (LinkageError e) {
          System.out.println("refused");
        }
      }
    }
  }

  @Test
  public void areRefusedAndDoNotCrash() throws Exception {
    File sources = folder.newFolder("org", "topwork");
    File other = new File(sources, "Evaluation.java");
    Files.write(other.toPath(), TestFiles.utf8("package org.topwork; final class Evaluation {}"));
    assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, other.getPath()));
    File output = folder.newFile("output");
    String classes = folder.getRoot() + File.pathSeparator + System.getProperty("java.class.path");
    Process process =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-Djava.library.path=" + System.getProperty("java.library.path"),
                "-cp",
                classes,
                Program.class.getName())
            .directory(folder.getRoot())
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();
    assertEquals(0, process.waitFor());
    List<String> lines = Files.readAllLines(output.toPath());
    assertEquals(Arrays.asList("refused", "refused"), lines);
  }
}
