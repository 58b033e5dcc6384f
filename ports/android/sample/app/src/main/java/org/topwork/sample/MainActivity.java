package org.topwork.sample;

import android.Manifest;
import android.app.Activity;
import android.content.pm.PackageManager;
import android.graphics.Bitmap;
import android.os.Bundle;
import android.os.Handler;
import android.view.TextureView;
import android.widget.Button;
import android.widget.EditText;
import android.widget.TextView;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.topwork.Model;

/** Shows what the camera sees, and teaches new things. All work of models is on one thread. */
public final class MainActivity extends Activity {
  private static final int FRAME_MILLIS = 200;
  private static final int FRAME_SIZE = 320;

  private final ExecutorService worker = Executors.newSingleThreadExecutor();
  private final Handler screen = new Handler();
  private final FrameLoop frames =
      new FrameLoop(begin -> screen.postDelayed(begin, FRAME_MILLIS), this::classifyFrame);
  private Camera camera;
  private TextureView preview;
  private TextView answer;
  private EditText name;
  private Button teach;
  // Of the worker.
  private Model base;
  private Teacher teacher;
  private int[] pixels = {};

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    setContentView(R.layout.activity_main);
    preview = (TextureView) findViewById(R.id.preview);
    answer = (TextView) findViewById(R.id.answer);
    name = (EditText) findViewById(R.id.name);
    teach = (Button) findViewById(R.id.teach);
    teach.setOnClickListener(view -> teach(name.getText().toString(), preview.getBitmap()));
    camera = new Camera(this, preview);
    work(this::open);
  }

  @Override
  protected void onResume() {
    super.onResume();
    if (checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED) {
      camera.start();
    } else {
      requestPermissions(new String[] {Manifest.permission.CAMERA}, 0);
    }
    frames.resume();
  }

  @Override
  protected void onPause() {
    frames.pause();
    camera.stop();
    super.onPause();
  }

  @Override
  protected void onDestroy() {
    worker.execute(
        () -> {
          if (teacher != null) {
            teacher.close();
            base.close();
          }
        });
    worker.shutdown();
    super.onDestroy();
  }

  private void open() throws IOException {
    base = Model.openAsset(getAssets(), "efficientnet_lite0_fp16.tflite");
    float[] mean = {127};
    float[] std = {128};
    teacher = new Teacher(base, readLabels(), getFilesDir(), mean, std);
    showTaps();
  }

  private List<String> readLabels() throws IOException {
    List<String> labels = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                getAssets().open("imagenet_labels.txt"), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        labels.add(line);
      }
    }
    return labels;
  }

  /** The first click begins a thing, the next five show it. */
  private void teach(String thing, Bitmap frame) {
    work(
        () -> {
          if (teacher.current() == null) {
            teacher.begin(thing);
          } else if (frame != null) {
            read(frame);
            teacher.tap(pixels, frame.getWidth(), frame.getHeight(), 0);
          }
          showTaps();
        });
  }

  private void showTaps() {
    int left = teacher.tapsLeft();
    String text = left == 0 ? getString(R.string.begin) : getString(R.string.tap, left);
    runOnUiThread(() -> teach.setText(text));
  }

  private void classifyFrame() {
    Bitmap frame = preview.isAvailable() ? preview.getBitmap(FRAME_SIZE, FRAME_SIZE) : null;
    work(
        () -> {
          try {
            if (frame != null && teacher != null) {
              classify(frame);
            }
          } finally {
            runOnUiThread(frames::looked);
          }
        });
  }

  private void classify(Bitmap frame) {
    read(frame);
    Teacher.Answer seen = teacher.classify(pixels, frame.getWidth(), frame.getHeight(), 0);
    int percent = Math.round(100 * seen.probability());
    String text = getString(R.string.answer, seen.name(), percent);
    runOnUiThread(() -> answer.setText(text));
  }

  private void read(Bitmap frame) {
    int size = frame.getWidth() * frame.getHeight();
    if (pixels.length < size) {
      pixels = new int[size];
    }
    frame.getPixels(pixels, 0, frame.getWidth(), 0, 0, frame.getWidth(), frame.getHeight());
  }

  /** What may fail, with a message for the person. */
  private interface Work {
    void run() throws IOException;
  }

  private void work(Work work) {
    worker.execute(
        () -> {
          try {
            work.run();
          } catch (IOException | RuntimeException e) {
            runOnUiThread(() -> answer.setText(getString(R.string.failed, e.getMessage())));
          }
        });
  }
}
