"""JDK Flight Recorder."""
