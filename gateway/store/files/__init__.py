"""Files of items in S3."""
