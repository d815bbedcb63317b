"""Policy files: written, compared with the model, explained, documented."""
