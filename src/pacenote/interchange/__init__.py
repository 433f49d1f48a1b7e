"""Traces in the formats of others: read as records, and written from them."""
