"""Generates conversations in which tools are called, in the app's dialect of Gemma 3."""
