"""Levers."""
