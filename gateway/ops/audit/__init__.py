"""The production checklist, held against a live account and the model: facts are gathered first, then judged."""
