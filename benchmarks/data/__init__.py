"""Data: what the records hold, files of them, the reference's answers, and the tasks that are measured."""
