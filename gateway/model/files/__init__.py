"""Files in S3: where they lie, which of them a role reaches, and what a declaration must not do."""
