"""Generates policy documents from the model and checks them."""
