"""The pages for people: the landing page, GraphiQL and its first query."""
