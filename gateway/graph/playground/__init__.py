"""The HTML pages: the landing page, and GraphiQL with a first query."""
