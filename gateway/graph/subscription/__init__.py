"""HOW WATCHED: subscriptions, from a note of a change to an event that the subscriber's own session has read."""
