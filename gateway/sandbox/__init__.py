"""AWS on a laptop: DynamoDB and STS with IAM enforced, demo tenants, and a token issuer for development."""
