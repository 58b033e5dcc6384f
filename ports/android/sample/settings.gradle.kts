pluginManagement {
  repositories {
    google()
    mavenCentral()
    gradlePluginPortal()
  }
}

dependencyResolutionManagement {
  repositories {
    maven(url = uri("../../../build/android/repository")) // ports/android/build.sh makes it
    google()
    mavenCentral()
  }
}

rootProject.name = "topwork-sample"

include(":app")
