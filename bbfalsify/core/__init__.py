"""Data types, seeds and errors that every room uses; imports no other room."""
