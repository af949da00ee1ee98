"""Exercises whose failures name the mistake."""
