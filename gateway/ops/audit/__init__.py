"""The production checklist: facts about a live account are gathered first, then checked."""
