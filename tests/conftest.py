"""Shared by all tests; its folder holds the hand-made records of fake_trials.py."""
