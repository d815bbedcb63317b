"""The reference executor: graphql-core, with resolvers that batch their reads."""
