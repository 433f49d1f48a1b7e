"""Locale."""
