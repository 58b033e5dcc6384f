plugins { id("com.android.application") }

android {
  namespace = "org.topwork.sample"
  compileSdk = 34

  defaultConfig {
    applicationId = "org.topwork.sample"
    minSdk = 24
    targetSdk = 34
    versionCode = 1
    versionName = "1.0"
  }

  compileOptions {
    sourceCompatibility = JavaVersion.VERSION_1_8
    targetCompatibility = JavaVersion.VERSION_1_8
  }

  // Models are mapped from the package: they must not be compressed.
  androidResources { noCompress += "tflite" }

  sourceSets["main"].assets.srcDir(layout.buildDirectory.dir("zoo"))
}

val copyZoo by
    tasks.registering(Copy::class) {
      from("../../../../models/zoo") {
        include("efficientnet_lite0_fp16.tflite", "imagenet_labels.txt")
      }
      into(layout.buildDirectory.dir("zoo"))
    }

tasks.named("preBuild") { dependsOn(copyZoo) }

dependencies { implementation("org.topwork:topwork:0.1.0") }
