"""Measures too long for a test run, with the short form of each as a test."""
