"""Subscriptions: from a change note to an event that is read with the subscriber's own session."""
