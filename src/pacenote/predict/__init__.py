"""Predicts a step on hardware that is not here, from a stored trace and a specification sheet; pure arithmetic."""
