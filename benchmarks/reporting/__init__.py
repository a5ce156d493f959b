"""Reporting: tables, pages, plots, targets; two runs held against each other."""
