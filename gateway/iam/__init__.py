"""Authorisation: the policy language, the authorisations of DynamoDB requests, the policies of a model, and proofs."""
