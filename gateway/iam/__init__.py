"""MAY: policy documents, the evaluator, and DynamoDB requests as the authorisations AWS would ask for."""
