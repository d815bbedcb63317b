"""The policy language: documents, conditions, the evaluator.

It needs the standard library only and knows no DynamoDB.
"""
