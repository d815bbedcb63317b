"""The IAM policy language: parse policy documents, combine them, decide whether they allow a request.

This package imports nothing but the standard library and knows nothing about DynamoDB or tenants, so it can be used by
itself. `parse` checks a document, `PolicySet` compiles the documents of one session, `evaluate` decides:

>>> from gateway.iam.language.document import parse
>>> from gateway.iam.language.evaluator import PolicySet, evaluate
>>> from gateway.iam.language.verdict import Authorisation
>>> statement = {
...     "Sid": "OwnFolder",
...     "Effect": "Allow",
...     "Action": "s3:GetObject",
...     "Resource": "arn:aws:s3:::photos/${aws:PrincipalTag/Team}/*",
... }
>>> policies = PolicySet(identity=(parse({"Version": "2012-10-17", "Statement": statement}, "identity"),))
>>> session = {"aws:PrincipalTag/Team": "red"}
>>> evaluate(policies, Authorisation("s3:GetObject", "arn:aws:s3:::photos/red/1.png", session))
Allow(statements=('identity/OwnFolder',))
>>> verdict = evaluate(policies, Authorisation("s3:GetObject", "arn:aws:s3:::photos/blue/1.png", session))
>>> verdict.allowed, verdict.statement
(False, 'OwnFolder')
>>> print(verdict.reason)
no statement of the identity policy allows `s3:GetObject` on this resource: `OwnFolder` does not name \
`arn:aws:s3:::photos/blue/1.png`

A document that is not valid raises `gateway.iam.language.errors.PolicyError`. `evaluate` never raises: if a decision
fails, the request is denied.
"""
