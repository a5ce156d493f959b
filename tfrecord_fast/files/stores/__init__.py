"""Stores of objects behind URLs."""
