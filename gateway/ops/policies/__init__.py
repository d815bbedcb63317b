"""Policy files: writes them, compares them with the model, explains and documents them."""
