"""Advice: which hardware, for how long, for how much. Pure: times, prices and dates come in as values."""
