"""DynamoDB and STS on a laptop, with IAM enforced."""
