"""Files in S3: their keys, which of them a role may access, and checks of their declarations."""
