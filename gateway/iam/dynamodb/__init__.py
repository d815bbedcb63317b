"""DynamoDB requests in wire form as the authorisations that AWS would ask for, and what is prepared of them."""
