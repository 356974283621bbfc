"""Stores: what holds the record and gives raw signals."""
