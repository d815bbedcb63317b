"""Policy documents made from the model, and what checks and explains them."""
