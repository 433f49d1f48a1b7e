"""Runs the trials of a study in interleaved rounds and stores each the moment it exists."""
