"""What a model prints about itself: the access patterns and the keys behind them."""
